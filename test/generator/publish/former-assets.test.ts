/** Assets of earlier snapshots: they stay for two commits, so that cached pages keep their style. */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { ROUTES } from '../../../generator/routes/index.js';
import { buildArgs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { startProxy } from '../../support/proxy.js';
import {
  contentOf,
  digestOf,
  hashesOf,
  listOf,
  manifestOf,
  mirrorOf,
  sha256,
} from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, fresh } from '../../support/site.js';
import { always, it, some } from '../../support/thorough.js';
import { copyTree, differing } from '../../support/tree.js';
import { otherVersion, type OtherVersion } from './other-version.js';
import { damageOf } from './support.js';

const path = temporary();
let historic: OtherVersion;
/** A tree by that version, and its register. */
let [register, first] = ['', ''];
/** The style sheets of both versions, below the tree. */
let [old, current] = ['', ''];

const styleOf = (routes: readonly { readonly name: string; readonly file: string }[]): string =>
  routes.find(({ name }) => name === 'style')?.file ?? '';
const siblings = (file: string): string[] => [file, `${file}.br`, `${file}.gz`];

beforeAll(async () => {
  historic = await otherVersion(path('program'));
  [register, first] = [writeRegister(path('a.sqlite'), ROWS), path('first')];
  await historic.build(register, first);
  [old, current] = [styleOf(manifestOf(first).routes), styleOf(ROUTES)];
  if (old === current) throw new Error('the historic style sheet is the current one');
}, 60_000);

async function build(out: string, source = register, ...more: string[]): Promise<void> {
  const { code, stderr } = await inProcess(...buildArgs(source, out, ...more));
  expect([code, stderr]).toEqual([0, '']);
}

/** A register in which one record differs. */
function changed(price: number): string {
  const file = path('b.sqlite');
  cpSync(register, file);
  changeRegister(file, `UPDATE items SET price = ${price} WHERE id = 3`);
  return file;
}

/** The tree of the other version, with builds of this one on top. */
async function tree(...sources: readonly string[]): Promise<string> {
  const out = path('dist');
  copyTree(first, out);
  for (const source of sources) await build(out, source);
  return out;
}

const stylesIn = (out: string): string[] =>
  Object.keys(hashesOf(out)).filter((file) => /^assets\/style-\w+\.css$/.test(file));
/** The tree is whole, nothing in it is untracked, and these are its style sheets. */
async function expectStyles(out: string, present: string, ...former: readonly string[]): Promise<void> {
  expect(await damageOf(out)).toEqual([]);
  const { stdout } = await inProcess('verify', '--out', out, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ total: 0, untracked: { total: 0 } });
  expect(styleOf(manifestOf(out).routes)).toBe(present);
  expect(stylesIn(out)).toEqual([present, ...former].toSorted());
  const gone = [old, current].filter((file) => ![present, ...former].includes(file));
  expect(gone.flatMap(siblings).filter((file) => existsSync(join(out, file)))).toEqual([]);
}

describe('a build with other assets', () => {
  it('leaves those of the snapshot before, outside digest and changes, and serves them', async () => {
    const out = await tree(register);
    await expectStyles(out, current, old);
    const from = contentOf(out);
    for (const file of siblings(old)) delete from[file];
    const nothing = path('nothing');
    expect(differing(from, await fresh(register, nothing))).toEqual([]);
    const { digest, routes, tree: size } = manifestOf(out);
    const other = manifestOf(nothing);
    const [files, bytes] = [other.tree['files'], other.tree['bytes']];
    expect([digest, size['files'], size['bytes']]).toEqual([other.digest, files, bytes]);
    expect(digest).toBe(digestOf(mirrorOf(nothing), routes));
    expect(listOf(out, 2).delete).toContain(`/${old}`);
    expect(routes).toEqual(other.routes);
    const proxy = await startProxy(out);
    try {
      const response = await proxy.get(`/${old}`, { headers: { 'Accept-Encoding': 'br' } });
      expect(sha256(await response.text())).toBe(hashesOf(first)[old]);
      expect(response.headers.get('content-type')).toBe('text/css; charset=utf-8');
      expect(response.headers.get('cache-control')).toContain('immutable');
      expect(response.headers.get('content-encoding')).toBe('br');
      for (const none of [
        'style-0123456789.css',
        'style.css',
        'STYLE-0123456789.css',
        'style-0123456789.txt',
      ])
        expect((await proxy.get(`/assets/${none}`)).status).toBe(404);
    } finally {
      await proxy.stop();
    }
  });

  it('lists them for nobody until they are dropped', async () => {
    const out = await tree();
    const lists = ['--purge-list', '--files-from', '--delete-from'].map(
      (flag) => [flag, path(flag)] as const,
    );
    const listed = async (source: string): Promise<readonly string[][]> => {
      await build(out, source, '--base-url', 'https://api.example', ...lists.flat());
      return lists.map(([, file]) =>
        readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line.includes(old)),
      );
    };
    for (const source of [register, register, changed(7)]) expect(await listed(source)).toEqual([[], [], []]);
    const [purged, put, deleted] = await listed(changed(8));
    expect([purged, put]).toEqual([[`https://api.example/${old}`], []]);
    expect(deleted?.toSorted()).toEqual(siblings(old));
  });

  always.each(some(['', '.br'], 1))(
    'does not keep one whose content%s is not what its name says',
    async (suffix) => {
      const out = await tree();
      writeFileSync(join(out, old + suffix), 'altered');
      await build(out);
      await expectStyles(out, current);
    },
  );
});

describe('a rollback', () => {
  it('swaps the assets of both snapshots', async () => {
    const out = await tree(register);
    for (const [present, former] of [
      [old, current],
      [current, old],
    ] as const) {
      expect(await inProcess('rollback', '--out', out)).toMatchObject({ code: 0 });
      await expectStyles(out, present, former);
    }
  });
});
