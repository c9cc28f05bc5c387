/** Takedowns: what is withheld is gone from the disk when the build is done, nothing holds it up, and nothing brings it back. */
import { cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Lock } from '../../../generator/base/lock.js';
import { Tree } from '../../../generator/tree/tree.js';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { writeFiles } from '../../support/operator.js';
import { changedBy } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { buildWith, failureOf } from '../../support/site.js';
import { copyTree, inState, speaksOfDownloads } from '../../support/tree.js';
import { containing } from '../../support/values.js';
import { expectAtRest, interruptCommit } from '../publish/support.js';

const path = temporary();
const SINCE = '2026-11-20T00:00:00Z';
/** No less a name for being an id of the platform. */
const SECRET = 'Marlow-the-withheld';
const seen = { first_measured_at: '2026-11-01T00:00:00Z', last_measured_at: '2026-11-01T00:00:00Z' };

/** A register in which a name stands in records, histories and feeds, and as an owner's. */
const REGISTER = {
  groups: Array.from({ length: 40 }, (_, index) => {
    const [name, owner_name] = [index === 0 ? SECRET : `group ${index}`, index === 1 ? SECRET : 'somebody'];
    const platform_id = index === 0 ? SECRET : null;
    return { id: index + 1, name, platform_id, owner_state: 'owned', owner_name };
  }),
  group_names: [
    { group_id: 1, position: 1, name: `${SECRET}, before`, ...seen },
    { group_id: 1, position: 2, name: SECRET, first_measured_at: SINCE, last_measured_at: SINCE },
  ],
  users: [{ id: 5, username: SECRET }],
};

const withhold = (kind: string, id: number): string =>
  `INSERT INTO withheld VALUES ('${kind}', ${id}, '${SINCE}');`;

/** Every file of a tree, its state and its lock that has the name, in its own or in it, compressed or not. */
function filesThatHold(out: string): string[] {
  return readdirSync(dirname(out), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = readFileSync(file);
      if (file.includes(SECRET)) return true;
      if (file.endsWith('.gz')) return gunzipSync(bytes).includes(SECRET);
      return (file.endsWith('.br') ? brotliDecompressSync(bytes) : bytes).includes(SECRET);
    });
}

/** In a folder of its own, so that all that is beside the tree is the tree's. */
function site(): { readonly register: string; readonly out: string } {
  const folder = path('site');
  writeFiles(folder, {});
  return { register: writeRegister(path('register.sqlite'), REGISTER), out: join(folder, 'dist') };
}

const first = site();
await published(first);
changeRegister(first.register, `UPDATE groups SET description = 'another';`);
await published(first);
if (filesThatHold(first.out).length <= 5) throw new Error('the name is hardly published');
changeRegister(first.register, withhold('group', 1) + withhold('user', 5));

/** A copy of one that has published the name twice, and whose register withholds it now. */
function withholding(): ReturnType<typeof site> {
  const made = { register: path('register.sqlite'), out: join(path('site'), 'dist') };
  cpSync(first.register, made.register);
  copyTree(first.out, made.out);
  return made;
}

describe('a build that withholds a record', () => {
  it.each([false, true])('leaves nothing of it (interrupted before: %s)', async (isInterrupted) => {
    const made = withholding();
    if (isInterrupted) await interruptCommit(made, 3);
    await published(made);
    expect(filesThatHold(made.out)).toEqual([]);
    await expectAtRest(made.out);
  });

  it('leaves nothing of it where it had been removed before', async () => {
    const made = withholding();
    changeRegister(
      made.register,
      `DELETE FROM withheld; DELETE FROM group_names; DELETE FROM groups WHERE id <= 2; DELETE FROM users;`,
    );
    await buildWith(made);
    // The snapshot before has it.
    expect(filesThatHold(made.out).length).toBeGreaterThan(0);
    changeRegister(made.register, withhold('group', 1));
    const { sequence } = await published(made);
    // No document changes, but the bundles that hold its name are gone.
    const { put, delete: deleted } = changedBy(made.out, 4);
    expect([sequence, put.filter(({ file }) => !speaksOfDownloads(file)), deleted]).toEqual([4, [], []]);
    expect(filesThatHold(made.out)).toEqual([]);
    await expectAtRest(made.out);
  });

  it('leaves nothing of it where snapshot.json was lost, and a document but for its compressed form', async () => {
    const made = withholding();
    const copy = (from: string, to: string) => cpSync(join(made.out, from), join(made.out, to));
    copy('api/v1/group/1.json', 'api/v1/group/1.json.gz');
    rmSync(join(made.out, 'api/v1/group/1.json'));
    copy('api/v1/group/2.json', 'api/v1/group/3.json.br');
    rmSync(join(made.out, 'snapshot.json'));
    const { sequence } = await published(made);
    expect(sequence).toBe(3);
    expect(filesThatHold(made.out)).toEqual([]);
    await expectAtRest(made.out);
  });
});

describe('the state of a tree', () => {
  it('may be anywhere on the same file system, and is of one tree, whose lock stays next to it', async () => {
    const made = { ...site(), state: path('elsewhere') };
    await published(made);
    expect(existsSync(inState(made.out))).toBe(false);
    expect(existsSync(join(made.state, 'state.json'))).toBe(true);
    changeRegister(made.register, `UPDATE groups SET description = 'another';`);
    expect((await published(made)).changes).toMatchObject({ added: 0, removed: 0 });
    const two = site();
    const message = containing(`is of the tree "${made.out}"`);
    expect(await failureOf(published({ ...two, state: made.state }))).toMatchObject({ exitCode: 3, message });
    expect(existsSync(two.out)).toBe(false);
    // So that two states are one tree.
    const held = Lock.take(new Tree(made.out).lock);
    expect(await failureOf(published({ ...made, state: path('other') }))).toMatchObject({ exitCode: 75 });
    held.release();
  });

  it('goes with its tree, also while another process writes whose it is', async () => {
    const made = withholding();
    const record = inState(made.out, 'tree');
    writeFileSync(record, '');
    await published(made);
    expect(readFileSync(record, 'utf8')).toBe('../dist');
    const moved = join(dirname(made.out), 'moved');
    renameSync(inState(made.out), inState(moved));
    renameSync(made.out, moved);
    const { changes } = await published({ register: made.register, out: moved });
    expect(changes).toMatchObject({ added: 0, changed: 0, removed: 0 });
  });

  it('does not lie in the tree, nor on another file system', async () => {
    const made = site();
    // The tests' folder is in memory or on the disk, and this is the other.
    const other = ['/dev/shm', '/var/tmp'].find((each) => !made.out.startsWith(each) && existsSync(each));
    for (const [state, said] of [
      [made.out, 'lies in the tree'],
      [join(made.out, 'state'), 'lies in the tree'],
      [join(other ?? '', basename(dirname(made.out))), 'is on another file system'],
    ] as const) {
      const message = containing(said);
      expect(await failureOf(published({ ...made, state }))).toMatchObject({ exitCode: 3, message });
      expect([existsSync(state), existsSync(made.out)]).toEqual([false, false]);
    }
  });
});
