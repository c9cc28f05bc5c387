/** `verify` names whatever is wrong with a tree, and `--repair` leads back to what the register says. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import * as z from 'zod';
import { SHOWN_DAMAGE } from '../../../../generator/programs/verify/verify.js';
import { errorsOf, inputs, type Run } from '../../../support/cli.js';
import { temporary } from '../../../support/folder.js';
import { inProcess } from '../../../support/in-process.js';
import { contentOf, changedBy, snapshotOf, stateOf } from '../../../support/published.js';
import { changeRegister, writeRegister } from '../../../support/register.js';
import { ROWS, Site, copyOf, pair, site } from '../../../support/site.js';
import { changePublished } from '../../../support/state.js';
import { always, it, some, thorough } from '../../../support/thorough.js';
import { differing, inState } from '../../../support/tree.js';
import { containing, matching } from '../../../support/values.js';
import { writeFiles } from '../../../support/operator.js';
import { expectTree, damageOf, expectAtRest, interruptCommit, wholeOf } from '../../publish/support.js';

const path = temporary();

const reportSchema = z.object({
  total: z.int(),
  untracked: z.object({ files: z.array(z.string()), total: z.int() }),
  damage: z.array(z.object({ file: z.string(), what: z.string() })),
});

const verifyTree = (out: string, ...more: string[]) => inProcess('verify', '--out', out, ...more);
const repair = ({ register, out }: Pick<Site, 'register' | 'out'>, ...more: string[]) =>
  inProcess('verify', '--repair', '--quiet', ...inputs(register, out), ...more);

/** What `verify` says, as its lines have it, whatever the tree is called. */
const linesOf = (damage: readonly { readonly file: string; readonly what: string }[]): string[] =>
  damage.map(({ file, what }) => `${what}: ${file.replace(/^\.\d+-\w+-state\//, 'STATE/')}`).toSorted();
const each = (what: string, ...files: readonly string[]): string[] => files.map((file) => `${what}: ${file}`);

function replaceIn(file: string, from: string | RegExp, to: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
}
const group = (id: number): string => `api/v1/group/${id}.json`;
const item = (id: number): string => `api/v1/item/${id}.json`;
const club = (id: number): string => `api/v1/group/platform/club-${id}.json`;
const COPPER = 'api/v1/item/platform/copper.json';

function damageDocuments(out: string): void {
  const at = (file: string): string => join(out, file);
  rmSync(at(group(1)));
  // Altered in one byte; a link to the same bytes elsewhere; an empty folder in the place of a file.
  replaceIn(at(group(2)), 'group 2', 'group 9');
  renameSync(at(group(3)), `${out}-group`);
  symlinkSync(`${out}-group`, at(group(3)));
  rmSync(at(group(4)));
  mkdirSync(at(group(4)));
  // Siblings: missing, with bytes after their content, and of a document that is too small for one.
  rmSync(at(`${item(8)}.gz`));
  cpSync(at(`${item(5)}.gz`), at(`${item(12)}.gz`));
  appendFileSync(at(`${item(5)}.gz`), Buffer.alloc(9));
  appendFileSync(at(`${item(5)}.br`), 'garbage');
  // By ids of the platform: missing, altered, of no record, and without a sibling of its file.
  for (const id of [5, 6]) rmSync(at(club(id)));
  writeFileSync(at(club(6)), '{}');
  linkSync(at(group(11)), at(club(11)));
  rmSync(at(`${COPPER}.br`));
  // Downloads: of a kind that did not change, and one that is written with every snapshot.
  writeFileSync(at('downloads/groups.csv'), 'another');
  rmSync(at('downloads/SHA256SUMS'));
  // Of no record; and a bundle that the index does not name.
  for (const file of [group(777), 'snapshot.json.gz']) writeFileSync(at(file), '{"id":777}');
  renameSync(at('changes/2.ndjson.gz'), at('changes/77.ndjson.gz'));
}
const DAMAGED_DOCUMENTS = [
  ...each('missing', group(1), group(4), `${item(8)}.gz`, 'changes/2.ndjson.gz', 'downloads/SHA256SUMS'),
  ...each('missing', club(5), `${COPPER}.br`),
  ...each('altered', group(2), group(3), club(6), 'downloads/groups.csv', `${item(5)}.br`, `${item(5)}.gz`),
  ...each('extra', `${item(12)}.gz`, group(777), club(11), 'changes/77.ndjson.gz', 'snapshot.json.gz'),
];

type Harm = readonly [of: string, harm: (out: string) => void, found: readonly string[]];
const HARMS: readonly Harm[] = [
  ['documents that are damaged in every way', damageDocuments, DAMAGED_DOCUMENTS],
  ['missing lists', (out) => rmSync(inState(out, 'lists'), { recursive: true }), ['missing: STATE/lists']],
  [
    'a snapshot.json that says something else of the service',
    (out) => replaceIn(join(out, 'snapshot.json'), '"service":{"name":"', '"service":{"name":"Not '),
    ['altered: snapshot.json'],
  ],
  ['a missing snapshot.json', (out) => rmSync(join(out, 'snapshot.json')), ['missing: snapshot.json']],
];

const pristine = await site(path);
await pristine.build(
  `UPDATE items SET price = 50 WHERE id = 1; UPDATE items SET platform_id = 'copper' WHERE id = 8`,
);
const content = contentOf(pristine.out);

describe('a tree of two snapshots', () => {
  it('that is whole is found whole, and nothing in it is touched, nor minded if it was replaced by its equal', async () => {
    const { out } = copyOf(pristine, path);
    const before = stateOf(out);
    const stdout = matching(/^Snapshot 2 in .* matches its lists/);
    expect(await verifyTree(out)).toMatchObject({ code: 0, stdout });
    expect(await verifyTree(out, '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(differing(stateOf(out), before)).toEqual([]);
    const file = join(out, 'api/v1/stats.json');
    renameSync(file, `${file}.old`);
    cpSync(`${file}.old`, file);
    rmSync(`${file}.old`);
    expect(await damageOf(out)).toEqual([]);
  });

  it('of which more is damaged than is shown says how much', async () => {
    const made = copyOf(pristine, path);
    rmSync(join(made.out, 'api/v1/largest'), { recursive: true });
    const { code, stdout } = await verifyTree(made.out, '--quiet');
    expect([code, stdout.match(/^missing: /gm)?.length]).toEqual([1, SHOWN_DAMAGE]);
    // One for each limit, and the lists of games, items and users.
    expect(stdout).toContain('and 103 more');
    expect(stdout).toMatch(/ has 203 damaged files \(--repair renders them again\)$/m);
  });

  always.each(some(HARMS, 2))('of which verify finds and --repair repairs %s', async (_, harm, damage) => {
    const made = copyOf(pristine, path);
    const { out } = made;
    harm(out);
    const harmed = wholeOf(out);
    const first = await verifyTree(out, '--json', '--quiet');
    expect.soft([first.code, first.stderr]).toEqual([1, '']);
    const found = reportSchema.parse(JSON.parse(first.stdout));
    expect.soft(linesOf(found.damage)).toEqual(damage.toSorted());
    expect.soft(found.total).toBe(damage.length);
    expect.soft(differing(wholeOf(out), harmed)).toEqual([]);

    const repaired = await repair(made);
    expect.soft([repaired.code, errorsOf(repaired)]).toEqual([0, []]);
    expect.soft(differing(contentOf(out), content)).toEqual([]);
    const inodes = [group(5), club(5)].map((file) => statSync(join(out, file)).ino);
    expect.soft(inodes[0]).toBe(inodes[1]);
    expect.soft(snapshotOf(out).digest).toBe(snapshotOf(pristine.out).digest);
    await expectAtRest(out);
    // And it is a tree like any other: the next build finds nothing to do.
    expect(await made.build()).toMatchObject({ changes: { added: 0, changed: 0, removed: 0 } });
  });
});

const untrackedIn = ({ stdout }: Run) => reportSchema.parse(JSON.parse(stdout)).untracked;

it('files that no route leads to are reported, are no damage, and stay but for --delete-untracked', async () => {
  const UNTRACKED =
    '.htaccess api/v1/group/x.json changes/notes.json imprint.html somewhere/else/index.html'.split(' ');
  const made = await site(path);
  const { out } = made;
  const content = contentOf(out);
  writeFiles(out, Object.fromEntries(UNTRACKED.map((file) => [file, 'of a stranger'])));
  const before = wholeOf(out);
  const { code, stdout } = await verifyTree(out);
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    ...UNTRACKED.map((file) => `untracked: ${file}`),
    containing('matches its lists'),
    'No route leads to 5 untracked files (--repair --delete-untracked deletes them)',
    '',
  ]);
  expect(await verifyTree(out, '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
  const alone = await verifyTree(out, '--delete-untracked');
  expect(alone).toMatchObject({ code: 2, stderr: containing('along with --repair') });
  expect((await repair({ register: path('none.sqlite'), out }, '--delete-untracked')).code).toBe(3);
  expect(differing(wholeOf(out), before)).toEqual([]);
  // What would be served is deleted by any repair.
  const served = 'api/v1/group/777.json';
  writeFiles(out, { [served]: 'of a stranger' });
  rmSync(join(out, 'snapshot.json'));
  const repaired = await repair(made, '--json');
  expect([repaired.code, untrackedIn(repaired)]).toEqual([0, { files: UNTRACKED, total: 5 }]);
  expect(existsSync(join(out, served))).toBe(false);
  for (const file of UNTRACKED) expect(wholeOf(out)[file]).toBe(before[file]);
  // Of a tree that is whole by now.
  expect(untrackedIn(await repair(made, '--delete-untracked', '--json')).total).toBe(5);
  expect(differing(contentOf(out), content)).toEqual([]);
  expect(existsSync(join(out, 'somewhere'))).toBe(false);
});

it('siblings that were copied without times are named once, with what to do, and written again by --repair', async () => {
  const made = await site(path);
  const siblings = Object.keys(contentOf(made.out)).filter((file) => /\.(gz|br)$/.test(file));
  for (const file of siblings) utimesSync(join(made.out, file), 1, 1);
  rmSync(join(made.out, item(1)));
  const { length: count } = siblings.filter((file) => !file.startsWith('downloads/'));
  const { stdout } = await verifyTree(made.out, '--quiet');
  const said = `^copied without times: use rsync -a \\(${count} compressed files, such as \\S+\\)$`;
  expect(stdout).toMatch(new RegExp(said, 'm'));
  expect(stdout.match(/copied/g)).toHaveLength(1);
  expect(stdout).toContain(`missing: ${item(1)}\n`);
  // What was wrong is said even by --quiet.
  expect(await repair(made)).toMatchObject({ code: 0, stdout: containing(`missing: ${item(1)}\n`) });
  await expectAtRest(made.out);
});

it('a link in the place of a folder is named, and stops a repair before it changes anything', async () => {
  const made = await site(path);
  const users = join(made.out, 'api/v1/user');
  renameSync(users, `${made.out}-users`);
  symlinkSync(`${made.out}-users`, users);
  const before = wholeOf(made.out);
  expect((await verifyTree(made.out, '--quiet')).stdout).toContain('extra: api/v1/user\n');
  const stderr = containing(`"${users}" is a symbolic link`);
  expect(await repair(made)).toMatchObject({ code: 3, stderr });
  expect(differing(wholeOf(made.out), before)).toEqual([]);
});

thorough('more than 10,000 damaged files are repaired as a whole tree', async () => {
  const made = await site(path);
  const content = contentOf(made.out);
  const lost = Array.from({ length: 10_001 }, (_, at) => `${'0'.repeat(64)}  ${item(1000 + at)}\n`);
  appendFileSync(inState(made.out, 'lists/item/0000000000000000.sha256'), lost.join(''));
  changePublished(made.out, (snapshot) => snapshot);
  const { stdout } = await verifyTree(made.out, '--quiet', '--json');
  expect(reportSchema.parse(JSON.parse(stdout)).total).toBe(10_001);
  const stderr = containing('every file is written again');
  expect(await repair(made)).toMatchObject({ code: 0, stderr });
  await expectTree(made.out, content);
});

thorough('--repair renders with the options of build, which are refused or accepted as there', async () => {
  const register = writeRegister(path('register.sqlite'), ROWS, 'loose');
  changeRegister(register, `UPDATE items SET measured_at = 'yesterday' WHERE id = 3`);
  const made = new Site(register, path('dist'));
  const options = ['--skip-invalid', '--base-url', 'https://another.example'];
  await made.command('build', ...options);
  const content = contentOf(made.out);
  rmSync(join(made.out, 'api/v1/stats.json'));
  expect(await repair(made)).toMatchObject({ code: 1, stderr: containing('breaks the contract') });
  expect(await repair(made, ...options)).toMatchObject({ code: 0, stderr: '' });
  expect(differing(contentOf(made.out), content)).toEqual([]);
  changeRegister(register, 'DELETE FROM games');
  rmSync(join(made.out, 'api/v1/stats.json'));
  expect(await repair(made, ...options)).toMatchObject({ code: 1, stderr: containing('--accept-removals') });
});

it('a commit that was interrupted is named by verify, and completed by --repair', async () => {
  const both = await pair(path);
  const flags = { register: both.registers[1], out: both.tree() };
  const { out } = flags;
  await interruptCommit(flags, 10);
  const { code, stdout } = await verifyTree(out, '--quiet');
  expect([code, stdout]).toEqual([1, matching(/interrupted: \.\d+-dist-state\/commit/)]);
  // What is damaged is known once it is complete, so a repair is not advised.
  expect(stdout).toContain('; a commit was interrupted: the next build completes it');
  expect(stdout).not.toContain('--repair');
  expect(await repair(flags)).toMatchObject({ code: 0, stderr: '' });
  await expectTree(out, both.trees[1]);
});

it('verify of a folder without a tree, or of a file, ends with 3', async () => {
  const [folder, file] = [path('folder'), path('file')];
  mkdirSync(folder);
  writeFileSync(file, '');
  for (const out of [folder, file, path('nowhere')]) expect((await verifyTree(out)).code).toBe(3);
});

it('--repair removes a damaged record that is withheld by now, and the bundle says so', async () => {
  const made = await site(path);
  writeFileSync(join(made.out, item(1)), '{}');
  changeRegister(made.register, `INSERT INTO withheld VALUES ('item', 1, '2026-01-01T00:00:00Z')`);
  expect((await repair(made)).code).toBe(0);
  expect(existsSync(join(made.out, item(1)))).toBe(false);
  expect(changedBy(made.out, 2).delete).toContain('/api/v1/item/1');
  await expectAtRest(made.out);
});
