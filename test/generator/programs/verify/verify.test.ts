/** `verify` names whatever is wrong with a tree, and `--repair` leads back to what the register says. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { SHOWN_DAMAGE, type Damage } from '../../../../generator/programs/verify/verify.js';
import { publishedSample } from '../../../support/build.js';
import { errorsOf, inputs } from '../../../support/cli.js';
import { temporary } from '../../../support/folder.js';
import { inProcess } from '../../../support/in-process.js';
import { contentOf, changedBy, manifestOf, stateOf } from '../../../support/published.js';
import { changeRegister, writeRegister } from '../../../support/register.js';
import { ROWS, Site, buildWith, copyOf, fresh, pair, site } from '../../../support/site.js';
import { always, it, some, thorough } from '../../../support/thorough.js';
import { changeState } from '../../../support/state.js';
import { differing, inState } from '../../../support/tree.js';
import { containing, matching } from '../../../support/values.js';
import { writeFiles } from '../../../support/operator.js';
import { SWEEP } from '../../publish/faults.js';
import { damageOf, expectAtRest, interruptCommit, wholeOf } from '../../publish/support.js';

/** What findings call a part of the state, whatever the tree is called. */
const named = <T extends { readonly file: string }>(damage: readonly T[]): T[] =>
  damage.map((each) => ({ ...each, file: each.file.replace(/^\.\d+-\w+-state\//, 'STATE/') }));

const path = temporary();

const reportSchema = z.object({
  sequence: z.int().nullable(),
  files: z.int(),
  total: z.int(),
  repaired: z.boolean(),
  untracked: z.object({ files: z.array(z.string()), total: z.int() }),
  damage: z.array(z.object({ file: z.string(), what: z.string() })),
});

const verifyTree = (out: string, ...more: string[]) => inProcess('verify', '--out', out, ...more);
const repair = ({ register, out }: Pick<Site, 'register' | 'out'>, ...more: string[]) =>
  inProcess('verify', '--repair', '--quiet', ...inputs(register, out), ...more);

const byName = (a: { file: string }, b: { file: string }): number => (a.file < b.file ? -1 : 1);

const missing = (...files: readonly string[]): Damage[] => files.map((file) => ({ file, what: 'missing' }));
const altered = (...files: readonly string[]): Damage[] => files.map((file) => ({ file, what: 'altered' }));
const extra = (...files: readonly string[]): Damage[] => files.map((file) => ({ file, what: 'extra' }));

function replaceIn(file: string, from: string | RegExp, to: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
}
const group = (id: number): string => `api/v1/group/${id}.json`;
const item = (id: number): string => `api/v1/item/${id}.json`;

/** Damages documents in every way there is. */
function damageDocuments(out: string): void {
  const at = (file: string): string => join(out, file);
  rmSync(at(group(1)));
  // Altered in one byte; can't be read; an empty folder in the place of a file.
  replaceIn(at(group(2)), 'group 2', 'group 9');
  for (const id of [3, 4]) rmSync(at(group(id)));
  symlinkSync(at(group(3)), at(group(3)));
  mkdirSync(at(group(4)));
  // Siblings: missing, with bytes after their content, and of a document that is too small for one.
  rmSync(at(`${item(8)}.gz`));
  cpSync(at(`${item(5)}.gz`), at(`${item(12)}.gz`));
  appendFileSync(at(`${item(5)}.gz`), Buffer.alloc(9));
  appendFileSync(at(`${item(5)}.br`), 'garbage');
  // Downloads: of a kind that did not change, and one that is written with every snapshot.
  writeFileSync(at('downloads/groups.csv'), 'another');
  rmSync(at('downloads/SHA256SUMS'));
  // Of no record; and a bundle that the index does not name.
  writeFileSync(at(group(777)), '{"id":777}');
  renameSync(at('changes/2.ndjson.gz'), at('changes/77.ndjson.gz'));
}
const DAMAGED_DOCUMENTS: readonly Damage[] = [
  ...missing(group(1), group(4), `${item(8)}.gz`, 'changes/2.ndjson.gz', 'downloads/SHA256SUMS'),
  ...altered(group(2), group(3), 'downloads/groups.csv', `${item(5)}.br`, `${item(5)}.gz`),
  ...extra(`${item(12)}.gz`, group(777), 'changes/77.ndjson.gz'),
];

/** What is done to a tree, and what `verify` finds then. */
type Harm = readonly [of: string, harm: (out: string) => void, found: readonly Damage[]];
const HARMS: readonly Harm[] = [
  ['documents that are damaged in every way', damageDocuments, DAMAGED_DOCUMENTS],
  ['a missing state', (out) => rmSync(inState(out, 'state.json')), missing('STATE/state.json')],
  ['missing lists', (out) => rmSync(inState(out, 'lists'), { recursive: true }), missing('STATE/lists')],
  [
    'a list that says something else of a document',
    (out) => replaceIn(inState(out, 'lists/group/0000000000000000.sha256'), /^[0-9a-f]{4}/, 'ffff'),
    altered('STATE/lists'),
  ],
  [
    'a state of another snapshot',
    (out) => changeState(out, (state) => ({ ...state, sequence: 1, snapshot: '0'.repeat(64) })),
    altered('STATE/state.json'),
  ],
  [
    'a snapshot.json that says something else of the service',
    (out) => replaceIn(join(out, 'snapshot.json'), '"service":{"name":"', '"service":{"name":"Not '),
    altered('snapshot.json'),
  ],
  ['a missing snapshot.json', (out) => rmSync(join(out, 'snapshot.json')), missing('snapshot.json')],
];

describe('a tree of two snapshots', () => {
  let pristine: Site;
  let content: Record<string, string>;
  beforeAll(async () => {
    pristine = await site(path);
    await pristine.build('UPDATE items SET price = 50 WHERE id = 1');
    content = contentOf(pristine.out);
  });

  it('that is whole is found whole, and nothing in it is touched, nor minded if it was replaced by its equal', async () => {
    const { out } = copyOf(pristine, path);
    const before = stateOf(out);
    const { code, stdout } = await verifyTree(out);
    expect([code, stdout]).toEqual([0, matching(/^Snapshot 2 in .* matches its lists/)]);
    expect(await verifyTree(out, '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(differing(stateOf(out), before)).toEqual([]);
    const file = join(out, 'api/v1/stats.json');
    renameSync(file, `${file}.old`);
    cpSync(`${file}.old`, file);
    rmSync(`${file}.old`);
    expect(await damageOf(out)).toEqual([]);
  });

  it('of which one file is damaged says so of one file', async () => {
    const { out } = copyOf(pristine, path);
    rmSync(join(out, 'api/v1/stats.json'));
    const { code, stdout } = await verifyTree(out);
    const said =
      /^missing: api\/v1\/stats\.json\nSnapshot 2 in .* has 1 damaged file \(--repair renders it again\)\n$/;
    expect([code, stdout]).toEqual([1, matching(said)]);
  });

  it('of which more is damaged than is shown says how much, and is repaired as a whole', async () => {
    const made = copyOf(pristine, path);
    rmSync(join(made.out, 'api/v1/largest'), { recursive: true });
    const { code, stdout } = await verifyTree(made.out, '--quiet');
    expect([code, stdout.match(/^missing: /gm)?.length]).toEqual([1, SHOWN_DAMAGE]);
    // One for each limit, and the lists of games, items and users.
    expect(stdout).toContain('and 103 more');
    expect(stdout).toMatch(/ has 203 damaged files \(--repair renders them again\)$/m);
    expect(await repair(made)).toMatchObject({ code: 0 });
    expect(await damageOf(made.out)).toEqual([]);
  });

  describe('verify finds and --repair repairs', () => {
    always.each(some(HARMS, 4))('%s', async (_, harm, damage) => {
      const made = copyOf(pristine, path);
      const { out } = made;
      harm(out);
      const harmed = wholeOf(out);
      const first = await verifyTree(out, '--json', '--quiet');
      expect.soft([first.code, first.stderr]).toEqual([1, '']);
      const found = reportSchema.parse(JSON.parse(first.stdout));
      expect.soft(named(found.damage).toSorted(byName)).toEqual(damage.toSorted(byName));
      expect.soft(found.total).toBe(damage.length);
      expect.soft(differing(wholeOf(out), harmed)).toEqual([]);

      const repaired = await repair(made);
      expect.soft([repaired.code, errorsOf(repaired)]).toEqual([0, []]);
      expect.soft(differing(contentOf(out), content)).toEqual([]);
      expect.soft(manifestOf(out).digest).toBe(manifestOf(pristine.out).digest);
      await expectAtRest(out);
      // And it is a tree like any other: the next build finds nothing to do.
      const again = await buildWith(made).catch((error: unknown) => error);
      expect.soft(again).toMatchObject({ changes: { added: 0, changed: 0, removed: 0 } });
    });
  });
});

async function treeWith(files: readonly string[]): Promise<Site> {
  const made = await site(path);
  writeFiles(made.out, Object.fromEntries(files.map((file) => [file, 'of a stranger'])));
  return made;
}
const untrackedIn = ({ stdout }: { stdout: string }) => reportSchema.parse(JSON.parse(stdout)).untracked;

describe('files that no route leads to', () => {
  const UNTRACKED =
    '.htaccess api/v1/group/x.json changes/notes.json imprint.html somewhere/else/index.html'.split(' ');

  it('are reported, are no damage, and stay without --repair, or if that is refused', async () => {
    const { out } = await treeWith(UNTRACKED);
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
    const json = await verifyTree(out, '--json');
    const untracked = { files: UNTRACKED, total: 5 };
    expect(reportSchema.parse(JSON.parse(json.stdout))).toMatchObject({ damage: [], total: 0, untracked });
    const alone = await verifyTree(out, '--delete-untracked');
    expect(alone).toMatchObject({ code: 2, stderr: containing('along with --repair') });
    expect((await repair({ register: path('none.sqlite'), out }, '--delete-untracked')).code).toBe(3);
    expect(differing(wholeOf(out), before)).toEqual([]);
  });

  it('are left alone by --repair, which deletes what would be served, and deleted by --delete-untracked', async () => {
    const served = 'api/v1/group/777.json';
    const made = await treeWith([...UNTRACKED, served]);
    rmSync(join(made.out, 'snapshot.json'));
    const before = wholeOf(made.out);
    const repaired = await repair(made, '--json');
    expect([repaired.code, untrackedIn(repaired)]).toEqual([0, { files: UNTRACKED, total: 5 }]);
    expect(existsSync(join(made.out, served))).toBe(false);
    for (const file of UNTRACKED) expect(wholeOf(made.out)[file]).toBe(before[file]);
    const whole = contentOf(made.out);
    // Of a tree that is whole by now.
    const { code, stdout } = await repair(made, '--delete-untracked', '--json');
    expect([code, untrackedIn({ stdout })]).toEqual([0, { files: UNTRACKED, total: 5 }]);
    for (const file of UNTRACKED) Reflect.deleteProperty(whole, file);
    expect(differing(contentOf(made.out), whole)).toEqual([]);
    expect(existsSync(join(made.out, 'somewhere'))).toBe(false);
    expect(untrackedIn(await verifyTree(made.out, '--json'))).toEqual({ files: [], total: 0 });
  });
});

it('siblings that were copied without times are named once, with what to do, and written again by --repair', async () => {
  const made = await site(path);
  const siblings = Object.keys(contentOf(made.out)).filter((file) => /\.(gz|br)$/.test(file));
  for (const file of siblings) utimesSync(join(made.out, file), 1, 1);
  rmSync(join(made.out, item(1)));
  const { code, stdout } = await verifyTree(made.out, '--quiet');
  expect([code, stdout.match(/copied/g)?.length]).toEqual([1, 1]);
  const downloads = siblings.filter((file) => file.startsWith('downloads/'));
  const count = siblings.length - downloads.length;
  expect(stdout).toMatch(
    new RegExp(`^copied without times: use rsync -a \\(${count} compressed files, such as \\S+\\)$`, 'm'),
  );
  expect(stdout).toContain(`missing: ${item(1)}\n`);
  expect(stdout).not.toContain(' more\n');
  expect((await repair(made)).code).toBe(0);
  await expectAtRest(made.out);
});

it('a link in the place of a folder is named, and stops a repair before it changes anything', async () => {
  const made = await site(path);
  const users = join(made.out, 'api/v1/user');
  renameSync(users, `${made.out}-users`);
  symlinkSync(`${made.out}-users`, users);
  const before = wholeOf(made.out);
  expect((await verifyTree(made.out, '--quiet')).stdout).toContain('extra: api/v1/user\n');
  const { code, stderr } = await repair(made);
  expect([code, stderr]).toEqual([3, containing(`"${users}" is a symbolic link`)]);
  expect(differing(wholeOf(made.out), before)).toEqual([]);
  rmSync(users);
  expect((await repair(made)).code).toBe(0);
  await expectAtRest(made.out);
});

it('a file that would be served is extra where its route has no files, too', async () => {
  const made = await treeWith(['changes/77.ndjson.gz', 'snapshot.json.gz']);
  const { stdout } = await verifyTree(made.out, '--quiet');
  for (const file of ['changes/77.ndjson.gz', 'snapshot.json.gz'])
    expect(stdout).toContain(`extra: ${file}\n`);
  expect((await repair(made)).code).toBe(0);
  await expectAtRest(made.out);
});

it('a file in the place of a record that the register has by now becomes the record', async () => {
  const made = await site(path);
  writeFileSync(join(made.out, group(777)), 'of a stranger');
  changeRegister(
    made.register,
    `INSERT INTO groups (id, first_measured_at, measured_at, measurements)
     VALUES (777, '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 1)`,
  );
  expect((await repair(made)).code).toBe(0);
  expect(differing(contentOf(made.out), await fresh(made.register, path('fresh')))).toEqual([]);
});

it('--repair renders with the options of build, which are refused or accepted as there', async () => {
  const register = writeRegister(path('register.sqlite'), ROWS, 'loose');
  changeRegister(register, `UPDATE items SET measured_at = 'yesterday' WHERE id = 3`);
  const made = new Site(register, path('dist'));
  const options = ['--skip-invalid', '--base-url', 'https://another.example'];
  await inProcess('build', '--quiet', ...inputs(register, made.out), ...options);
  const content = contentOf(made.out);
  rmSync(join(made.out, 'api/v1/stats.json'));
  expect(await repair(made)).toMatchObject({ code: 1, stderr: containing('breaks the contract') });
  expect(await repair(made, ...options)).toMatchObject({ code: 0, stderr: '' });
  expect(differing(contentOf(made.out), content)).toEqual([]);
  changeRegister(register, 'DELETE FROM games');
  rmSync(join(made.out, 'api/v1/stats.json'));
  expect(await repair(made, ...options)).toMatchObject({ code: 1, stderr: containing('--accept-removals') });
  expect(await repair(made, ...options, '--accept-removals')).toMatchObject({ code: 0, stderr: '' });
  await expectAtRest(made.out);
});

thorough('more than 10,000 damaged files are repaired as a whole tree', SWEEP, async () => {
  const made = new Site(path('register.sqlite'), path('dist'));
  await publishedSample(made.register, made.out, 8000);
  const content = contentOf(made.out);
  for (const folder of ['api', 'group', 'user', 'item', 'game'])
    rmSync(join(made.out, folder), { recursive: true, force: true });
  const { stdout } = await verifyTree(made.out, '--quiet', '--json');
  expect(reportSchema.parse(JSON.parse(stdout)).total).toBeGreaterThan(10_001);
  expect((await repair(made)).code).toBe(0);
  expect(differing(contentOf(made.out), content)).toEqual([]);
  await expectAtRest(made.out);
});

always.each(some([1, 4, 10, 16], 1))(
  'a commit that was interrupted at step %i is named by verify and completed by --repair',
  async (step) => {
    const both = await pair(path);
    const flags = { register: both.registers[1], out: both.tree() };
    const { out } = flags;
    await interruptCommit(flags, step);
    const { code, stdout } = await verifyTree(out, '--quiet');
    expect([code, stdout]).toEqual([1, matching(/interrupted: \.\d+-dist-state\/commit/)]);
    // What is damaged is known once it is complete, so a repair is not advised.
    expect(stdout).toContain('; a commit was interrupted: the next build completes it');
    expect(stdout).not.toContain('--repair');
    expect(await repair(flags)).toMatchObject({ code: 0, stderr: '' });
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    await expectAtRest(out);
  },
);

describe('verify', () => {
  it('of a folder without a tree, or of a file, ends with 3', async () => {
    const [folder, file] = [path('folder'), path('file')];
    mkdirSync(folder);
    writeFileSync(file, '');
    for (const out of [folder, file, path('nowhere')]) expect((await verifyTree(out)).code).toBe(3);
  });

  it('--repair from a register that is missing, empty or breaks the contract changes nothing', async () => {
    const { out } = await site(path);
    rmSync(join(out, 'api/v1/stats.json'));
    const before = contentOf(out);
    const empty = writeRegister(path('empty.sqlite'), {});
    const broken = writeRegister(path('broken.sqlite'), ROWS, 'loose');
    changeRegister(broken, `UPDATE items SET measured_at = 'yesterday'`);
    for (const [register, code] of [
      [path('none.sqlite'), 3],
      [broken, 1],
      [empty, 1],
    ] as const) {
      expect((await repair({ register, out })).code).toBe(code);
      expect(differing(contentOf(out), before)).toEqual([]);
    }
  });

  it('says of a snapshot.json that is none what it is, and --repair goes by the register', async () => {
    const made = await site(path);
    const before = contentOf(made.out);
    truncateSync(join(made.out, 'snapshot.json'), 50);
    const { code, stdout, stderr } = await verifyTree(made.out, '--quiet');
    expect([code, stdout + stderr]).toEqual([1, containing('snapshot.json')]);
    expect((await repair(made)).code).toBe(0);
    expect(differing(contentOf(made.out), before)).toEqual([]);
  });

  it('--repair removes a damaged record that is withheld by now, and the bundle says so', async () => {
    const made = await site(path);
    const file = join(made.out, 'api/v1/item/1.json');
    writeFileSync(file, '{}');
    changeRegister(made.register, `INSERT INTO withheld VALUES ('item', 1, '2026-01-01T00:00:00Z')`);
    await repair(made, '--accept-removals');
    expect(existsSync(file)).toBe(false);
    expect(differing(contentOf(made.out), await fresh(made.register, path('fresh')))).toEqual([]);
    expect(changedBy(made.out, 2).delete).toContain('/api/v1/item/1');
  });
});
