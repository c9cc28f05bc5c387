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
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { SHOWN_DAMAGE, type Damage } from '../../../../generator/programs/verify/damage.js';
import { errorsOf, inputs } from '../../../support/cli.js';
import { temporary } from '../../../support/folder.js';
import { inProcess } from '../../../support/in-process.js';
import { contentOf, listOf, manifestOf, stateOf } from '../../../support/published.js';
import { changeRegister, writeRegister } from '../../../support/register.js';
import { ROWS, Site, buildWith, copyOf, fresh, pair, site, type Pair } from '../../../support/site.js';
import { always, it, some } from '../../../support/thorough.js';
import { changeState, loseState } from '../../../support/state.js';
import { differing } from '../../../support/tree.js';
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

/** All users, missing: 1007 to 20007. */
const USERS = Array.from({ length: 20 }, (_, index): Damage => ({
  file: `api/v1/user/${index + 1}007.json`,
  what: 'missing',
}));

const missing = (...files: readonly string[]): Damage[] => files.map((file) => ({ file, what: 'missing' }));
const altered = (...files: readonly string[]): Damage[] => files.map((file) => ({ file, what: 'altered' }));
const extra = (...files: readonly string[]): Damage[] => files.map((file) => ({ file, what: 'extra' }));

/** What is done to a tree, and what `verify` finds then. */
type Harm = readonly [of: string, harm: (out: string) => void, found: readonly Damage[]];

const copyWithin = (out: string, from: string, ...to: readonly string[]): void =>
  to.forEach((each) => cpSync(join(out, from), join(out, each)));
function replaceIn(file: string, from: string | RegExp, to: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
}
const GROUP = 'api/v1/group/2.json';
const ITEM = 'api/v1/item/5.json';
const USER_FOLDER = 'api/v1/user';

const HARMS: readonly Harm[] = [
  ['a missing file', (out) => rmSync(join(out, GROUP)), missing(GROUP)],
  [
    'a file that was altered in one byte',
    (out) => replaceIn(join(out, GROUP), 'group 2', 'group 9'),
    altered(GROUP),
  ],
  [
    'a file that can’t be read',
    (out) => {
      rmSync(join(out, GROUP));
      symlinkSync(join(out, GROUP), join(out, GROUP));
    },
    altered(GROUP),
  ],
  ['a missing sibling', (out) => rmSync(join(out, `${ITEM}.gz`)), missing(`${ITEM}.gz`)],
  [
    'siblings with bytes after their content, and one of a document that is too small for one',
    (out) => {
      copyWithin(out, `${ITEM}.gz`, 'api/v1/item/12.json.gz');
      appendFileSync(join(out, `${ITEM}.gz`), Buffer.alloc(9));
      appendFileSync(join(out, `${ITEM}.br`), 'garbage');
    },
    [...altered(`${ITEM}.br`, `${ITEM}.gz`), ...extra('api/v1/item/12.json.gz')],
  ],
  [
    'a file of a record that is not in the index',
    (out) => writeFileSync(join(out, 'api/v1/group/777.json'), '{"id":777}'),
    extra('api/v1/group/777.json'),
  ],
  [
    'a change list that the index does not name, and a sibling of one, which has none',
    (out) => copyWithin(out, 'changes/2.json', 'changes/77.json', 'changes/2.json.gz'),
    extra('changes/2.json.gz', 'changes/77.json'),
  ],
  [
    'an empty folder in the place of a file',
    (out) => {
      rmSync(join(out, GROUP));
      mkdirSync(join(out, GROUP));
    },
    missing(GROUP),
  ],
  [
    'a link in the place of a folder',
    (out) => {
      renameSync(join(out, USER_FOLDER), `${out}-users`);
      symlinkSync(`${out}-users`, join(out, USER_FOLDER));
    },
    [...extra(USER_FOLDER), ...USERS],
  ],
  ['a missing state', loseState, missing('STATE/state.sqlite')],
  [
    'a state that says something else of a document',
    (out) => changeState(out, 'UPDATE document SET bytes = bytes + 1 WHERE key = 2'),
    altered('STATE/state.sqlite'),
  ],
  [
    'a digest that was altered',
    (out) => replaceIn(join(out, 'snapshot.json'), /"digest":"[0-9a-f]{64}"/, `"digest":"${'0'.repeat(64)}"`),
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
    const message = expect.stringMatching(/^Snapshot 2 in .* matches its state and digest/) as unknown;
    expect([code, stdout]).toEqual([0, message]);
    expect(await verifyTree(out, '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(differing(stateOf(out), before)).toEqual([]);
    const file = join(out, 'api/v1/stats.json');
    renameSync(file, `${file}.old`);
    cpSync(`${file}.old`, file);
    rmSync(`${file}.old`);
    expect(await damageOf(out)).toEqual([]);
  });

  it('of which more is damaged than is shown says how much, and is repaired as a whole', async () => {
    const made = copyOf(pristine, path);
    rmSync(join(made.out, 'api/v1/largest'), { recursive: true });
    const { code, stdout } = await verifyTree(made.out, '--quiet');
    expect([code, stdout.match(/^missing: /gm)?.length]).toEqual([1, SHOWN_DAMAGE]);
    // One for each limit, and the lists of games, items and users.
    expect(stdout).toContain('and 103 more');
    expect(stdout).toMatch(/ has 203 damaged files \(.* files\) \(--repair renders them again\)$/m);
    rmSync(join(made.out, 'changes/2.json'));
    expect(await repair(made)).toMatchObject({ code: 0 });
    expect(await damageOf(made.out)).toEqual([]);
  });

  describe('verify finds and --repair repairs', () => {
    it.each(HARMS)('%s', async (_, harm, damage) => {
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
      expect.soft(await damageOf(out)).toEqual([]);
      expect.soft(manifestOf(out).digest).toBe(manifestOf(pristine.out).digest);
      // And it is a tree like any other: the next build finds nothing to do.
      const again = await buildWith(made).catch((error: unknown) => error);
      expect.soft(again).toMatchObject({ changes: { added: 0, changed: 0, removed: 0 } });
      await expectAtRest(out);
    });
  });
});

async function treeWith(files: readonly string[]): Promise<Site> {
  const made = await site(path);
  for (const file of files) {
    mkdirSync(dirname(join(made.out, file)), { recursive: true });
    writeFileSync(join(made.out, file), 'of a stranger');
  }
  return made;
}
const untrackedIn = ({ stdout }: { stdout: string }) => reportSchema.parse(JSON.parse(stdout)).untracked;

describe('files that no route leads to', () => {
  const UNTRACKED = [
    '.htaccess',
    'api/v1/group/x.json',
    'changes/notes.json',
    'imprint.html',
    'somewhere/else/index.html',
  ];

  it('are reported, and are no damage', async () => {
    const { out } = await treeWith(UNTRACKED);
    const { code, stdout } = await verifyTree(out);
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        ...UNTRACKED.map((file) => `untracked: ${file}`),
        expect.stringContaining('matches its state and digest'),
        'No route leads to 5 untracked files (--repair --delete-untracked deletes them)',
        '',
      ],
    ]);
    expect(await verifyTree(out, '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
    const json = await verifyTree(out, '--json');
    const untracked = { files: UNTRACKED, total: 5 };
    expect(reportSchema.parse(JSON.parse(json.stdout))).toMatchObject({ damage: [], total: 0, untracked });
  });

  it.each(['a tree without snapshot.json', 'a whole tree'])(
    'of %s are left alone by --repair, which deletes what would be served, and deleted with --delete-untracked',
    async (which) => {
      const served = 'api/v1/group/777.json';
      const made = await treeWith([...UNTRACKED, served]);
      if (which !== 'a whole tree') rmSync(join(made.out, 'snapshot.json'));
      const before = wholeOf(made.out);
      const repaired = await repair(made, '--json');
      expect([repaired.code, untrackedIn(repaired)]).toEqual([0, { files: UNTRACKED, total: 5 }]);
      expect(existsSync(join(made.out, served))).toBe(false);
      for (const file of UNTRACKED) expect(wholeOf(made.out)[file]).toBe(before[file]);
      const whole = contentOf(made.out);
      const { code, stdout } = await repair(made, '--delete-untracked', '--json');
      expect([code, untrackedIn({ stdout })]).toEqual([0, { files: UNTRACKED, total: 5 }]);
      for (const file of UNTRACKED) Reflect.deleteProperty(whole, file);
      expect(differing(contentOf(made.out), whole)).toEqual([]);
      expect(existsSync(join(made.out, 'somewhere'))).toBe(false);
      expect(untrackedIn(await verifyTree(made.out, '--json'))).toEqual({ files: [], total: 0 });
    },
  );

  it('are not deleted without --repair, nor if the repair is refused', async () => {
    const { out } = await treeWith(UNTRACKED);
    const before = wholeOf(out);
    const { code, stderr } = await verifyTree(out, '--delete-untracked');
    expect([code, stderr]).toEqual([2, expect.stringContaining('along with --repair')]);
    expect((await repair({ register: path('none.sqlite'), out }, '--delete-untracked')).code).toBe(3);
    expect(differing(wholeOf(out), before)).toEqual([]);
  });
});

describe('an interrupted commit', () => {
  let both: Pair;
  beforeAll(async () => {
    both = await pair(path);
  });

  always.each(some([1, 4, 10, 16], 1))(
    'at step %i is named by verify and completed by --repair',
    async (step) => {
      const flags = { register: both.registers[1], out: both.tree() };
      const { out } = flags;
      await interruptCommit(flags, step);
      const { code, stdout } = await verifyTree(out, '--quiet');
      expect([code, stdout]).toEqual([1, expect.stringMatching(/interrupted: \.\d+-dist-state\/stage/)]);
      // What is damaged is known once it is complete, so a repair is not advised.
      expect(stdout).toContain('; a commit was interrupted: the next build completes it');
      expect(stdout).not.toContain('--repair');
      expect(await repair(flags)).toMatchObject({ code: 0, stderr: '' });
      expect(differing(contentOf(out), both.trees[1])).toEqual([]);
      await expectAtRest(out);
    },
  );
});

describe('verify', () => {
  it('of a folder without a tree, or of a file, ends with 3', async () => {
    const [folder, file] = [path('folder'), path('file')];
    mkdirSync(folder);
    writeFileSync(file, '');
    for (const out of [folder, file, path('nowhere')]) expect((await verifyTree(out)).code).toBe(3);
  });

  it('--repair from a register that is missing or breaks the contract changes nothing', async () => {
    const made = await site(path);
    const { out } = made;
    writeFileSync(join(out, 'extra.html'), '');
    rmSync(join(out, 'api/v1/stats.json'));
    const before = wholeOf(out);
    expect((await repair({ register: path('none.sqlite'), out })).code).toBe(3);
    expect(differing(wholeOf(out), before)).toEqual([]);
    const broken = writeRegister(path('broken.sqlite'), ROWS, 'loose');
    changeRegister(broken, `UPDATE items SET measured_at = 'yesterday'`);
    expect((await repair({ register: broken, out })).code).toBe(1);
    expect((await verifyTree(out, '--quiet')).code).toBe(1);
    expect((await repair(made)).code).toBe(0);
    await expectAtRest(out);
  });

  it('--repair removes a damaged record that is withheld by now, and the change list says so', async () => {
    const made = await site(path);
    const file = join(made.out, 'api/v1/item/1.json');
    writeFileSync(file, '{}');
    changeRegister(made.register, `INSERT INTO withheld VALUES ('item', 1, '2026-01-01T00:00:00Z')`);
    await repair(made, '--accept-removals');
    expect(existsSync(file)).toBe(false);
    expect(differing(contentOf(made.out), await fresh(made.register, path('fresh')))).toEqual([]);
    expect(listOf(made.out, 2).delete).toContain('/api/v1/item/1');
  });

  it('says of a snapshot.json that is none what it is; --repair goes by the register, unless that is empty', async () => {
    const made = await site(path);
    const { out } = made;
    const before = contentOf(out);
    truncateSync(join(out, 'snapshot.json'), 50);
    const { code, stdout, stderr } = await verifyTree(out, '--quiet');
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('snapshot.json')]);
    const empty = writeRegister(path('empty.sqlite'), {});
    expect((await repair({ register: empty, out })).code).toBe(1);
    expect(differing(contentOf(out), before)).toEqual([]);
    expect((await repair(made)).code).toBe(0);
    expect(differing(contentOf(out), before)).toEqual([]);
  });
});
