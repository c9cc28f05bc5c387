/** `diff`: what a build would do, said without doing anything. */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { inputs } from '../../support/cli.js';
import { newFolder, temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { contentOf, documentsOf, indexOf } from '../../support/published.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, buildWith, pair } from '../../support/site.js';
import { loseState } from '../../support/state.js';
import { inState, isAlias, isEndpoint, isForFinding, namesThatDiffer } from '../../support/tree.js';
import { containing } from '../../support/values.js';
import { interruptCommit, wholeOf } from '../publish/support.js';

const path = temporary();
const both = await pair(path);

const changes = z.object({ added: z.int(), changed: z.int(), removed: z.int(), unchanged: z.int() });
const schema = z.object({
  sequence: z.int().nullable(),
  changes,
  by_route: z.record(z.string(), changes),
  examples: z.array(z.unknown()),
});

/** A dry run, which must leave everything as it is: the tree, its bookkeeping, its times, and nothing elsewhere. */
async function dryRun(
  command: readonly [string, ...string[]],
  register: string,
  out: string,
  ...more: string[]
) {
  // Which tree its state is of, a copy doesn't say.
  const all = () =>
    [out, inState(out)].map((folder) => ({ ...(existsSync(folder) && wholeOf(folder)), tree: '' }));
  const before = all();
  const scratch = newFolder(path('scratch'));
  vi.stubEnv('TMPDIR', scratch);
  const result = await inProcess(...command, '--quiet', ...inputs(register, out), ...more);
  vi.unstubAllEnvs();
  expect(readdirSync(scratch)).toEqual([]);
  expect(all()).toEqual(before);
  return result;
}
const diff = (register: string, out: string, ...more: string[]) => dryRun(['diff'], register, out, ...more);
const json = async (register: string, out: string, ...more: string[]) => {
  const { code, stdout } = await diff(register, out, '--json', ...more);
  expect(code).toBe(0);
  return schema.parse(JSON.parse(stdout));
};

/**
 * The documents that a diff compares: endpoints, documents for finding records, and feeds.
 * Downloads, description and pages follow from those.
 */
const comparedOf = (content: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    documentsOf(content)
      .filter(
        (file) => (isEndpoint(file) && !isAlias(file)) || isForFinding(file) || file.startsWith('feeds/'),
      )
      .map((file) => [file, content[file] ?? '']),
  );

describe('a diff', () => {
  it('says what a build would add, change and remove, with old and new values, as build --dry-run does', async () => {
    const out = both.tree();
    const found = await json(both.registers[1], out);
    expect(found.sequence).toBe(1);
    const reading = { measured_at: '2026-11-19T08:00:00Z', member_count: 59 };
    for (const example of [
      { what: 'added', url: '/api/v1/item/77' },
      { what: 'removed', url: '/api/v1/game/4' },
      { what: 'removed', url: '/user/9007/usernames.json' },
      { what: 'changed', url: '/api/v1/item/5', fields: [{ field: 'price', from: 5, to: 99 }] },
      {
        what: 'changed',
        url: '/api/v1/group/3',
        fields: [{ field: 'description', from: null, to: 'changed' }],
      },
      {
        what: 'changed',
        url: '/group/6/history.json',
        fields: [{ field: 'members', removed: [], added: [reading] }],
      },
    ])
      expect(found.examples).toContainEqual(example);
    const lists = path('urls.txt');
    const asBuild = await dryRun(['build', '--dry-run'], both.registers[1], out, '--purge-list', lists);
    expect(existsSync(lists)).toBe(false);
    const { stdout } = asBuild;
    // What is derived from records is counted in details alone.
    expect(stdout).toMatch(/^A build would change \d+ files of snapshot 1: .*\nSince snapshot 1: .*\n$/m);
    const details = (await diff(both.registers[1], out, '--details')).stdout;
    expect(details.split('\n')).toEqual(expect.arrayContaining(stdout.split('\n')));
    expect(details).toMatch(/^ {2}group: \d+ added, /m);
    expect(details).toContain('changed /api/v1/item/5\n    price: 5 -> 99\n');
    expect(details).toContain(`changed /group/6/history.json\n    members: + ${JSON.stringify(reading)}\n`);
    // All is counted exactly as the build then does it.
    const before = comparedOf(contentOf(out));
    await buildWith({ register: both.registers[1], out });
    const after = comparedOf(contentOf(out));
    const others = namesThatDiffer(after, before);
    const added = others.filter((name) => !(name in before)).length;
    const removed = others.filter((name) => !(name in after)).length;
    const changed = others.length - added - removed;
    const unchanged = Object.keys(after).length - added - changed;
    expect(found.changes).toEqual({ added, changed, removed, unchanged });
    const counts = indexOf(out).changes[0]?.counts;
    for (const kind of ['groups', 'users', 'games', 'items'] as const)
      expect(found.by_route[kind.slice(0, -1)]).toMatchObject(counts?.[kind] ?? {});
    const again = await diff(both.registers[1], out);
    expect(again.stdout).toBe('A build would change nothing in snapshot 2\n');
  });

  it('of a folder that is not there yet, or lost its snapshot.json, adds everything, and makes nothing', async () => {
    const spoiled = both.tree();
    rmSync(join(spoiled, 'snapshot.json'));
    writeFileSync(inState(spoiled, 'state.json'), 'damaged');
    for (const tree of [path('dist'), spoiled]) {
      const { sequence, changes: found } = await json(both.registers[0], tree);
      expect(sequence).toBeNull();
      const added = Object.keys(comparedOf(both.trees[0])).length;
      expect(found).toEqual({ changed: 0, removed: 0, unchanged: 0, added });
    }
  });

  it('of a register that breaks the contract ends with 1', async () => {
    const out = both.tree();
    const register = writeRegister(path('register.sqlite'), ROWS, 'loose');
    changeRegister(register, `UPDATE items SET measured_at = 'yesterday' WHERE id = 5`);
    expect(await diff(register, out)).toMatchObject({ code: 1, stderr: containing('publish nothing') });
    // Its record, and the shard with its name.
    expect((await json(register, out, '--skip-invalid')).changes).toMatchObject({ removed: 2 });
  });

  it('of a tree whose commit was interrupted says what helps, and without its state adds everything', async () => {
    const flags = { register: both.registers[1], out: both.tree() };
    await interruptCommit(flags);
    const completable = { code: 1, stderr: containing('was interrupted: the next build completes it') };
    expect(await diff(flags.register, flags.out)).toMatchObject(completable);
    await buildWith(flags);
    loseState(flags.out);
    const { code, stdout, stderr } = await diff(flags.register, flags.out, '--json');
    expect([code, stderr]).toEqual([0, containing('every file is written again')]);
    const { sequence, changes: found } = schema.parse(JSON.parse(stdout));
    expect([sequence, found]).toMatchObject([2, { changed: 0, removed: 0, unchanged: 0 }]);
  });
});
