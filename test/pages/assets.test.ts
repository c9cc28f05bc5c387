/** What pages load is there under the name that they load it by, and that name follows from its content. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type * as Assets from '../../generator/outputs/pages/assets.js';
import { Tree as Published } from '../../generator/publish/tree.js';
import { verify } from '../../generator/publish/verify.js';
import { rollback } from '../../generator/rollback.js';
import { effectsAt, published, quiet } from '../support/build.js';
import { temporary } from '../support/folder.js';
import { writeRegister } from '../support/register.js';
import { readTree } from '../support/tree.js';
import type { Tree } from '../support/tree.js';
import { fields } from '../support/values.js';
import { DOCUMENTATION_FILES, manifestOf } from './site.js';

/** An asset of the next build, in place of the one of that route. */
const other = vi.hoisted((): { style?: Assets.Asset } => ({}));
vi.mock('../../generator/outputs/pages/assets.js', async (original) => {
  const real = await original<typeof Assets>();
  return { ...real, assets: () => new Map([...real.assets(), ...Object.entries(other)]) };
});
afterEach(() => {
  delete other.style;
});

const path = temporary();
const out = path('dist');
let tree: Tree;
const text = (file: string): string => tree.get(file)?.text ?? '';
const assets = (): string[] => manifestOf(out).routes.flatMap((r) => (r.class === 'asset' ? r.file : []));

beforeAll(async () => {
  const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1, member_count: 5 }] });
  await published({ register, out });
  tree = readTree(out);
});

describe('every asset', () => {
  it('has the hash of its content in its name, and is all there is below /assets/', () => {
    expect(assets().length).toBeGreaterThan(0);
    for (const file of assets()) {
      const [, digits] = /^assets\/[a-z\d-]+-([0-9a-f]{10})\.(?:css|js|woff2)$/.exec(file) ?? [];
      expect(digits, file).toBe(tree.get(file)?.sha256.slice(0, 10));
    }
    const below = [...tree.keys()].filter((file) => file.startsWith('assets/') && !/\.(gz|br)$/.test(file));
    expect(below.toSorted()).toEqual(assets().toSorted());
  });

  it('that a page or a script names is there', () => {
    const pages = ['index.html', ...DOCUMENTATION_FILES, 'downloads.html', 'feeds.html', 'group.html'];
    const named = [...pages, ...assets()].flatMap((file) =>
      [...text(file).matchAll(/["'(]\/(assets\/[^"')]*)["')]/g)].map(([, url = '']) => url),
    );
    expect(new Set(named).size).toBe(assets().length);
    for (const url of named) expect(tree.has(url), url).toBe(true);
  });

  it('is a module that parses, also where several are joined in it', () => {
    const scripts = assets().filter((file) => file.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(5);
    for (const file of scripts) {
      const module = path(`${scripts.indexOf(file)}.mjs`);
      writeFileSync(module, text(file));
      expect(spawnSync(process.execPath, ['--check', module], { encoding: 'utf8' }).stderr, file).toBe('');
    }
  });

  it('imports nothing by a name of its source', () => {
    for (const file of assets().filter((name) => name.endsWith('.js'))) {
      const imports = [...text(file).matchAll(/^import .*?from '([^']*)'|\bawait import\('([^']*)'\)/gm)];
      for (const [, fixed, late] of imports)
        expect(fixed ?? late).toMatch(/^\/assets\/[a-z]+-[0-9a-f]{10}\.js$/);
    }
  });
});

describe('an asset that changes', () => {
  it('takes a new name, copies are told that the old one goes, and a rollback brings it back', async () => {
    const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1, member_count: 5 }] });
    const dist = path('changing');
    const body = 'body { color: red }';
    const was = `assets/style-${createHash('sha256').update(body).digest('hex').slice(0, 10)}.css`;
    other.style = { path: `/${was}`, body };
    // The route table is made when its module is loaded.
    vi.resetModules();
    const another = await import('../support/build.js');
    await another.published({ register, out: dist });
    const first = readTree(dist);
    expect(first.get(was)?.text).toBe(body);

    delete other.style;
    const now = assets().find((file) => file.startsWith('assets/style-')) ?? '';
    const { changes } = await published({ register, out: dist });
    // The pages and the style itself; the scripts stay.
    expect(changes).toMatchObject({ added: 1, changed: 9 + DOCUMENTATION_FILES.length, removed: 1 });
    expect(readFileSync(join(dist, now), 'utf8')).toBe(text(now));
    // For pages in caches, until the next snapshot.
    expect(readFileSync(join(dist, was), 'utf8')).toBe(body);
    const list = fields(JSON.parse(readFileSync(join(dist, 'changes/2.json'), 'utf8')));
    expect(list['delete']).toEqual([`/${was}`]);
    expect(JSON.stringify(list['put'])).toContain(`"/${now}"`);
    expect((await verify(new Published(dist), quiet())).damage).toEqual([]);

    await rollback(new Published(dist), effectsAt('2026-12-09T00:00:00Z'));
    const again = readTree(dist);
    expect(again.get(now)?.text).toBe(text(now));
    for (const file of [was, 'index.html', 'developers.html'])
      expect(again.get(file)?.text, file).toBe(first.get(file)?.text);
    expect((await verify(new Published(dist), quiet())).damage).toEqual([]);
  });
});
