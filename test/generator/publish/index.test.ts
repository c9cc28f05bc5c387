/** The index: what the digest is computed from, relied on only if it is whole, and otherwise rebuilt. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HashFileWriter } from '../../../generator/tree/hash-file.js';
import { isSound, writeIndex } from '../../../generator/tree/index-json.js';
import { temporary } from '../../support/folder.js';
import { digestOf, manifestOf, mirrorOf, stateOf } from '../../support/published.js';
import { fresh, site } from '../../support/site.js';
import { differing, inState } from '../../support/tree.js';
import { damageOf, expectAtRest } from './support.js';

const path = temporary();

it('an index is sound only whole, unaltered and beside the right digest', () => {
  const folder = path('index');
  const writer = new HashFileWriter(join(folder, 'group'));
  for (const key of [1, 2, 3]) writer.add({ key, bytes: 7, hash: createHash('sha256').update('x').digest() });
  const sums = { group: writer.finish() };
  writeIndex(folder, { digest: 'd', sums, routes: {}, fingerprints: false, exports: {}, absent: [] });
  expect(isSound(folder, 'd')).toBe(true);
  expect(isSound(folder, 'e')).toBe(false);
  expect(isSound(path('none'), 'd')).toBe(false);
  const file = join(folder, 'group');
  const bytes = readFileSync(file);
  for (let at = 0; at < bytes.length; at += 1) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(file, flipped);
    expect(isSound(folder, 'd'), `bit flipped at ${at}`).toBe(false);
  }
  for (const other of [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.from('x')])]) {
    writeFileSync(file, other);
    expect(isSound(folder, 'd')).toBe(false);
  }
});

const flip = (file: string, at: number): void => {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
};

/** Flips a bit of the first value under a member, from a text on. */
function flipMember(file: string, from: string, member: string): void {
  const content = readFileSync(file);
  const start = content.indexOf(from);
  expect(start).toBeGreaterThan(0);
  const at = content.indexOf(`"${member}":`, start) + member.length + 3;
  // Behind the quotes of a text, if it is one.
  flip(file, content[at] === '"'.charCodeAt(0) ? at + 1 : at);
}

describe('a tree whose index is', () => {
  const damages: readonly [string, (folder: string) => void][] = [
    ['missing', (folder) => rmSync(folder, { recursive: true })],
    ['empty', (folder) => readdirSync(folder).forEach((name) => truncateSync(join(folder, name), 0))],
    ['without one route', (folder) => rmSync(join(folder, 'user'))],
    ['cut short', (folder) => truncateSync(join(folder, 'group'), 100)],
    ['flipped in its digest', (folder) => flip(join(folder, 'index.json'), 30)],
    ['without the fingerprints of a table', (folder) => rmSync(join(folder, 'chunks-items'))],
    ['flipped in the fingerprint of a record', (folder) => flip(join(folder, 'records-item'), 75)],
    ['no JSON', (folder) => writeFileSync(join(folder, 'index.json'), 'x')],
  ];

  it.each(damages)('%s is rebuilt, and no file is touched', async (_, damage) => {
    const made = await site(path);
    const { out } = made;
    const before = stateOf(out);
    damage(inState(out, 'index'));
    const { changes, sequence } = await made.build();
    expect([sequence, changes.added, changes.changed, changes.removed]).toEqual([1, 0, 0, 0]);
    expect(differing(stateOf(out), before)).toEqual(['snapshot.json is another']);
    expect(manifestOf(out).digest).toBe(digestOf(mirrorOf(out), manifestOf(out).routes));
    await expectAtRest(out);
  });

  it.each(['documents', 'bytes', 'root'])(
    'flipped in what it says of a route (%s) does not make the next snapshot say so, too',
    async (what) => {
      const [made, other] = [await site(path), path('dist')];
      const { register, out } = made;
      flipMember(inState(out, 'index/index.json'), '"group-history":{"documents":', what);
      await made.build('UPDATE items SET price = 50 WHERE id = 1');
      await fresh(register, other);
      const { digest, routes, tree } = manifestOf(out);
      expect({ digest, tree }).toEqual({
        digest: digestOf(mirrorOf(out), routes),
        tree: { ...manifestOf(other).tree, id: tree.id },
      });
      await expectAtRest(out);
    },
  );

  it('missing where files are damaged too is rebuilt, and they are repaired, by the next build', async () => {
    const made = await site(path);
    const { out } = made;
    const before = mirrorOf(out);
    rmSync(inState(out, 'index'), { recursive: true });
    writeFileSync(join(out, 'api/v1/group/1.json'), '{}');
    rmSync(join(out, 'api/v1/user/1007.json'));
    writeFileSync(join(out, 'api/v1/item/999.json'), '{}');
    await made.build();
    expect([...mirrorOf(out)]).toEqual([...before]);
    expect(existsSync(join(out, 'api/v1/item/999.json'))).toBe(false);
    expect(manifestOf(out).digest).toBe(digestOf(before, manifestOf(out).routes));
    expect(await damageOf(out)).toEqual([]);
  });
});
