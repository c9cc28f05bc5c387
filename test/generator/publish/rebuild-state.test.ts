/** The state: what the digest is computed from, relied on only if it is whole, and otherwise rebuilt. */
import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isSound } from '../../../generator/state/published.js';
import { Tree } from '../../../generator/tree/tree.js';
import { temporary } from '../../support/folder.js';
import { contentOf, digestOf, manifestOf, mirrorOf, stateOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { fresh, site } from '../../support/site.js';
import { changeState, databaseOf } from '../../support/state.js';
import { differing } from '../../support/tree.js';
import { LONG, publish, route } from './small.js';
import { damageOf, expectAtRest, interruptCommit } from './support.js';

const path = temporary();

/** What may be wrong with a state, and is seen without comparing documents. */
const DAMAGES: readonly [string, (out: string) => void][] = [
  ['missing', (out) => rmSync(databaseOf(out))],
  ['empty', (out) => truncateSync(databaseOf(out), 0)],
  ['no database', (out) => writeFileSync(databaseOf(out), 'x'.repeat(100_000))],
  ['cut short', (out) => truncateSync(databaseOf(out), statSync(databaseOf(out)).size - 4096)],
  ['noise but for its head', (out) => noise(databaseOf(out))],
  ['of another version', (out) => changeState(out, 'PRAGMA user_version = 9')],
  ['of another program', (out) => changeState(out, 'PRAGMA application_id = 9')],
  ['without a table', (out) => changeState(out, 'DROP TABLE own_file')],
  ['without its commits', (out) => changeState(out, 'DELETE FROM snapshot')],
  ['of another digest', (out) => changeState(out, `UPDATE snapshot SET digest = '${'0'.repeat(64)}'`)],
  ['altered in what it says of its sources', (out) => changeState(out, DESCRIBED)],
  ['without a file that the commit put', (out) => changeState(out, 'DELETE FROM own_file WHERE rowid = 1')],
  ['without a route', (out) => changeState(out, 'DELETE FROM route WHERE position = 1')],
  ['with a route that is no JSON', (out) => changeState(out, `UPDATE route SET json = '{' WHERE id = 1`)],
  ['with routes in another order', (out) => changeState(out, 'UPDATE route SET position = -position')],
  ['without a chunk', (out) => changeState(out, `DELETE FROM chunk WHERE ${ONE_CHUNK}`)],
  ['altered in the leaf of a chunk', (out) => changeState(out, of('leaf = zeroblob(32)'))],
  ['altered in how many documents a chunk has', (out) => changeState(out, of('documents = documents + 1'))],
  ['altered in how large a chunk is', (out) => changeState(out, of('bytes = bytes + 1'))],
  ['without a document', (out) => changeState(out, `DELETE FROM document WHERE ${ONE}`)],
  ['altered in a key', (out) => changeState(out, `UPDATE document SET key = key + 7000 WHERE ${ONE}`)],
  [
    'altered in how large a document is',
    (out) => changeState(out, `UPDATE document SET bytes = 9 WHERE ${ONE}`),
  ],
];
const DESCRIBED = `UPDATE snapshot SET described = replace(described, '"isCopy":false', '"isCopy":true ')`;
const ONE = 'route = 1 AND key = (SELECT min(key) FROM chunk WHERE route = 1)';
const ONE_CHUNK = ONE;
const of = (what: string): string => `UPDATE chunk SET ${what} WHERE ${ONE_CHUNK}`;

/** All pages but the first become noise. */
function noise(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xa5, 4096));
}

describe('a state', () => {
  it('is sound only whole, unaltered and beside the right digest', async () => {
    const [out, good] = [path('dist'), path('good')];
    const routes = [route('a', '/a/{id}', 'a/{id}.json'), route('b', '/b/{id}', 'b/{id}.json')];
    await publish(out, { routes, documents: { a: { 1: 'one', 2: LONG }, b: { 1: 'x' } } });
    const tree = new Tree(out);
    const { digest } = manifestOf(out);
    expect([isSound(tree, digest), isSound(tree)]).toEqual([true, true]);
    expect(isSound(tree, '0'.repeat(64))).toBe(false);
    copyFileSync(databaseOf(out), good);
    for (const [what, damage] of DAMAGES) {
      damage(out);
      expect(isSound(tree, digest), what).toBe(false);
      copyFileSync(good, databaseOf(out));
    }
    expect(isSound(tree, digest)).toBe(true);
  });

  it.each(DAMAGES)('%s is rebuilt, and no file is touched', async (_, damage) => {
    const made = await site(path);
    const { out } = made;
    const before = stateOf(out);
    damage(out);
    const { changes, sequence } = await made.build();
    expect([sequence, changes.added, changes.changed, changes.removed]).toEqual([1, 0, 0, 0]);
    expect(differing(stateOf(out), before)).toEqual(['snapshot.json is another']);
    expect(manifestOf(out).digest).toBe(digestOf(mirrorOf(out), manifestOf(out).routes));
    await expectAtRest(out);
  });

  it.each([
    [
      'without the fingerprints of a table',
      'DELETE FROM fingerprint WHERE source = (SELECT min(id) FROM source)',
    ],
    ['without fingerprints', 'DELETE FROM fingerprint'],
    ['altered in the keys of fingerprints', 'UPDATE fingerprint SET key = key + 1000000 WHERE key % 2'],
    ['altered in fingerprints', 'UPDATE fingerprint SET hash = zeroblob(32) WHERE key % 2'],
  ])('%s does not make the next snapshot another', async (_, sql) => {
    const [made, other] = [await site(path), path('dist')];
    const { register, out } = made;
    changeState(out, sql);
    await made.build('UPDATE items SET price = 50 WHERE id = 1; DELETE FROM users WHERE id = 1007');
    expect(differing(contentOf(out), await fresh(register, other))).toEqual([]);
    const { digest, routes, tree } = manifestOf(out);
    expect({ digest, tree }).toEqual({
      digest: digestOf(mirrorOf(out), routes),
      tree: { ...manifestOf(other).tree, id: tree.id },
    });
    await expectAtRest(out);
  });

  it.each(['documents', 'bytes', 'leaf'])(
    'altered in what it says of a route (%s) does not make the next snapshot say so, too',
    async (what) => {
      const [made, other] = [await site(path), path('dist')];
      const { register, out } = made;
      const value = what === 'leaf' ? 'zeroblob(32)' : `${what} + 1`;
      const id = `(SELECT id FROM route WHERE name = 'group-history')`;
      changeState(out, `UPDATE chunk SET ${what} = ${value} WHERE route = ${id}`);
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

  it('altered in what an interrupted commit changes is rebuilt, and the tree completed, by the next build', async () => {
    const [made, other] = [await site(path), path('dist')];
    const { register, out } = made;
    changeRegister(register, 'DELETE FROM users WHERE id = 1007; UPDATE items SET price = 50 WHERE id = 1');
    await interruptCommit({ register, out }, 1);
    changeState(out, 'UPDATE change SET replaced = 0');
    await made.build();
    expect(differing(contentOf(out), await fresh(register, other))).toEqual([]);
    expect(await damageOf(out)).toEqual([]);
    await expectAtRest(out);
  });

  it('altered in where a chunk begins does not make the next snapshot another, and verify finds it', async () => {
    const [made, other] = [await site(path), path('dist')];
    const { register, out } = made;
    changeState(out, `UPDATE chunk SET key = key + 1 WHERE ${ONE_CHUNK}`);
    await made.build('UPDATE items SET price = 50 WHERE id = 1');
    expect(differing(contentOf(out), await fresh(register, other))).toEqual([]);
    expect(await damageOf(out)).toEqual([{ file: relative(dirname(out), databaseOf(out)), what: 'altered' }]);
  });

  it('missing where files are damaged too is rebuilt, and they are repaired, by the next build', async () => {
    const made = await site(path);
    const { out } = made;
    const before = mirrorOf(out);
    rmSync(databaseOf(out));
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
