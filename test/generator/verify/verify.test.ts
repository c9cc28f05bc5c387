/** `verify` names whatever is wrong with a tree, and `--repair` leads back to what the register says. */
import {
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
import { always, it, some, thorough } from '../../support/thorough.js';
import { z } from 'zod';
import { SHOWN_DAMAGE } from '../../../generator/verify/verify.js';
import type { Damage } from '../../../generator/verify/verify.js';
import { killBuild } from '../../system/soak/kill.js';
import { OPERATOR, published } from '../../support/build.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import {
  ROWS,
  buildWith,
  contentOf,
  damageOf,
  digestOf,
  errorsOf,
  expectAtRest,
  inProcess,
  interruptCommit,
  manifestOf,
  mirrorOf,
  pair,
  stateOf,
  temporary,
  wholeOf,
} from '../publish/support.js';
import type { Pair } from '../publish/support.js';
import { copyTree, differing, inState } from '../../support/tree.js';

/** What findings call a part of the state, whatever the tree is called. */
const named = <T extends { readonly file: string }>(damage: readonly T[]): T[] =>
  damage.map((each) => ({ ...each, file: each.file.replace(/^\.\d+-\w+-state\//, 'STATE/') }));

const path = temporary();
const register = writeRegister(path('register.sqlite'), ROWS);

const reportSchema = z.object({
  sequence: z.int().nullable(),
  files: z.int(),
  total: z.int(),
  repaired: z.boolean(),
  untracked: z.object({ files: z.array(z.string()), total: z.int() }),
  damage: z.array(z.object({ file: z.string(), what: z.string() })),
});

const verifyTree = (out: string, ...more: string[]) => inProcess('verify', '--out', out, ...more);
const repair = (out: string, from: string, ...more: string[]) =>
  verifyTree(out, '--repair', '--quiet', '--register', from, '--operator', OPERATOR, ...more);

const byName = (a: { file: string }, b: { file: string }): number => (a.file < b.file ? -1 : 1);

interface Harm {
  readonly of: string;
  readonly do: (out: string) => void;
  readonly found: readonly Damage[];
}

/** All users, missing: 1007 to 20007. */
const USERS = Array.from({ length: 20 }, (_, index): Damage => ({
  file: `api/v1/user/${index + 1}007.json`,
  what: 'missing',
}));

const HARMS: readonly Harm[] = [
  {
    of: 'a file that is missing',
    do: (out) => rmSync(join(out, 'api/v1/group/2.json')),
    found: [{ file: 'api/v1/group/2.json', what: 'missing' }],
  },
  {
    of: 'a file that was altered in one byte',
    do: (out) => {
      const file = join(out, 'api/v1/group/2.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace('group 2', 'group 9'));
    },
    found: [{ file: 'api/v1/group/2.json', what: 'altered' }],
  },
  {
    of: 'a file that is cut short',
    do: (out) => truncateSync(join(out, 'api/v1.json'), 10),
    found: [{ file: 'api/v1.json', what: 'altered' }],
  },
  {
    of: 'an empty file',
    do: (out) => truncateSync(join(out, 'api/v1/stats.json'), 0),
    found: [{ file: 'api/v1/stats.json', what: 'altered' }],
  },
  {
    of: 'a file that can’t be read',
    do: (out) => {
      const file = join(out, 'api/v1/largest/7.json');
      rmSync(file);
      symlinkSync(file, file);
    },
    found: [{ file: 'api/v1/largest/7.json', what: 'altered' }],
  },
  {
    of: 'a compressed sibling that is missing',
    do: (out) => rmSync(join(out, 'api/v1/item/5.json.gz')),
    found: [{ file: 'api/v1/item/5.json.gz', what: 'missing' }],
  },
  {
    of: 'a compressed sibling that is another document’s',
    do: (out) => cpSync(join(out, 'api/v1/item/8.json.br'), join(out, 'api/v1/item/5.json.br')),
    found: [{ file: 'api/v1/item/5.json.br', what: 'altered' }],
  },
  {
    of: 'a compressed sibling that is noise',
    do: (out) => writeFileSync(join(out, 'api/v1/item/5.json.gz'), 'noise'),
    found: [{ file: 'api/v1/item/5.json.gz', what: 'altered' }],
  },
  {
    of: 'a compressed sibling of a document that is too small for one',
    do: (out) => cpSync(join(out, 'api/v1/item/5.json.gz'), join(out, 'api/v1/item/12.json.gz')),
    found: [{ file: 'api/v1/item/12.json.gz', what: 'extra' }],
  },
  {
    of: 'a download that was altered, and one that is missing',
    do: (out) => {
      truncateSync(join(out, 'downloads/items.csv.gz'), 10);
      rmSync(join(out, 'downloads/users.parquet'));
    },
    found: [
      { file: 'downloads/items.csv.gz', what: 'altered' },
      { file: 'downloads/users.parquet', what: 'missing' },
    ],
  },
  {
    of: 'compressed siblings of downloads, which have none',
    do: (out) => {
      for (const name of ['items.csv.br', 'items.csv.gz.gz', 'items.parquet.gz']) {
        cpSync(join(out, 'downloads/items.csv.gz'), join(out, 'downloads', name));
      }
    },
    found: [
      { file: 'downloads/items.csv.br', what: 'extra' },
      { file: 'downloads/items.csv.gz.gz', what: 'extra' },
      { file: 'downloads/items.parquet.gz', what: 'extra' },
    ],
  },
  {
    of: 'a file of a record that is not in the index',
    do: (out) => writeFileSync(join(out, 'api/v1/group/777.json'), '{"id":777}'),
    found: [{ file: 'api/v1/group/777.json', what: 'extra' }],
  },
  {
    of: 'a change list that the index does not name, and a sibling of one, which has none',
    do: (out) => {
      for (const name of ['77.json', '2.json.gz']) writeFileSync(join(out, 'changes', name), '');
    },
    found: [
      { file: 'changes/2.json.gz', what: 'extra' },
      { file: 'changes/77.json', what: 'extra' },
    ],
  },
  {
    of: 'a folder of records that is gone',
    do: (out) => rmSync(join(out, 'api/v1/user'), { recursive: true }),
    found: USERS,
  },
  {
    of: 'an empty folder in the place of a file',
    do: (out) => {
      rmSync(join(out, 'api/v1/group/2.json'));
      mkdirSync(join(out, 'api/v1/group/2.json'));
    },
    found: [{ file: 'api/v1/group/2.json', what: 'missing' }],
  },
  {
    of: 'a file in the place of a folder',
    do: (out) => {
      rmSync(join(out, 'api/v1/user'), { recursive: true });
      writeFileSync(join(out, 'api/v1/user'), '');
    },
    found: [{ file: 'api/v1/user', what: 'extra' }, ...USERS],
  },
  {
    of: 'a link in the place of a folder',
    do: (out) => {
      renameSync(join(out, 'api/v1/user'), `${out}-users`);
      symlinkSync(`${out}-users`, join(out, 'api/v1/user'));
    },
    found: [{ file: 'api/v1/user', what: 'extra' }, ...USERS],
  },
  {
    of: 'a change list that was altered',
    do: (out) => writeFileSync(join(out, 'changes/2.json'), '{"from":1,"to":2,"put":[],"delete":[]}'),
    found: [{ file: 'changes/2.json', what: 'altered' }],
  },
  {
    of: 'a change list that is missing',
    do: (out) => rmSync(join(out, 'changes/2.json')),
    found: [{ file: 'changes/2.json', what: 'missing' }],
  },
  {
    of: 'an index that is missing',
    do: (out) => rmSync(inState(out, 'index'), { recursive: true }),
    found: [{ file: 'STATE/index', what: 'missing' }],
  },
  {
    of: 'an index that was altered',
    do: (out) => truncateSync(inState(out, 'index/group'), 100),
    found: [{ file: 'STATE/index', what: 'altered' }],
  },
  {
    of: 'an index and a file that are both missing',
    do: (out) => {
      rmSync(inState(out, 'index'), { recursive: true });
      rmSync(join(out, 'api/v1/group/2.json'));
    },
    found: [{ file: 'STATE/index', what: 'missing' }],
  },
  {
    of: 'a digest that was altered',
    do: (out) => {
      const file = join(out, 'snapshot.json');
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace(/"digest":"[0-9a-f]{64}"/, `"digest":"${'0'.repeat(64)}"`),
      );
    },
    found: [{ file: 'snapshot.json', what: 'altered' }],
  },
  {
    of: 'a snapshot.json that is missing',
    do: (out) => rmSync(join(out, 'snapshot.json')),
    found: [{ file: 'snapshot.json', what: 'missing' }],
  },
];

describe('a tree of two snapshots', () => {
  let pristine: string;
  let content: Record<string, string>;
  beforeAll(async () => {
    pristine = path('pristine');
    const before = writeRegister(path('before.sqlite'), ROWS);
    changeRegister(before, 'UPDATE items SET price = 50 WHERE id = 1');
    await published({ register: before, out: pristine });
    await published({ register, out: pristine });
    content = contentOf(pristine);
  });

  function tree(): string {
    const out = path('dist');
    copyTree(pristine, out);
    return out;
  }

  it('that is whole is found whole, and nothing in it is touched', async () => {
    const out = tree();
    const before = stateOf(out);
    const { code, stdout } = await verifyTree(out);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Snapshot 2 in .* matches its index and digest/),
    ]);
    const quiet = await verifyTree(out, '--quiet');
    expect(quiet).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(differing(stateOf(out), before)).toEqual([]);
  });

  thorough('is repaired as a whole if more is damaged than is shown', async () => {
    const out = tree();
    rmSync(join(out, 'api/v1/largest'), { recursive: true });
    rmSync(join(out, 'changes/2.json'));
    expect(await repair(out, register)).toMatchObject({ code: 0 });
    expect(await damageOf(out)).toEqual([]);
  });

  describe('verify finds and --repair mends', () => {
    always.each(some(HARMS, 5).map((harm) => [harm.of, harm] as const))('%s', async (_, harm) => {
      const out = tree();
      harm.do(out);
      const harmed = wholeOf(out);
      const first = await verifyTree(out, '--json', '--quiet');
      expect.soft([first.code, first.stderr]).toEqual([1, '']);
      const found = reportSchema.parse(JSON.parse(first.stdout));
      expect.soft(named(found.damage).toSorted(byName)).toEqual(harm.found.toSorted(byName));
      expect.soft(found.total).toBe(harm.found.length);
      expect.soft(differing(wholeOf(out), harmed)).toEqual([]);

      const mended = await repair(out, register);
      expect.soft([mended.code, errorsOf(mended)]).toEqual([0, []]);
      expect.soft(differing(contentOf(out), content)).toEqual([]);
      expect.soft(await damageOf(out)).toEqual([]);
      expect.soft(manifestOf(out).digest).toBe(manifestOf(pristine).digest);
      // And it is a tree like any other: the next build finds nothing to do.
      const again = await buildWith({ register, out }).catch((error: unknown) => error);
      expect.soft(again).toMatchObject({ changes: { added: 0, changed: 0, removed: 0 } });
      await expectAtRest(out);
    });
  });
});

async function treeWith(files: readonly string[]): Promise<string> {
  const out = path('dist');
  await published({ register, out });
  for (const file of files) {
    mkdirSync(dirname(join(out, file)), { recursive: true });
    writeFileSync(join(out, file), 'of a stranger');
  }
  return out;
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
    const out = await treeWith(UNTRACKED);
    const { code, stdout } = await verifyTree(out);
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        ...UNTRACKED.map((file) => `untracked: ${file}`),
        expect.stringContaining('matches its index and digest'),
        'No route leads to 5 untracked files (--repair --delete-untracked deletes them)',
        '',
      ],
    ]);
    expect(await verifyTree(out, '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
    const json = await verifyTree(out, '--json');
    expect(json.code).toBe(0);
    expect(reportSchema.parse(JSON.parse(json.stdout))).toMatchObject({
      damage: [],
      total: 0,
      untracked: { files: UNTRACKED, total: 5 },
    });
  });

  thorough('are left alone by --repair, which deletes what would be served', async () => {
    const out = await treeWith([...UNTRACKED, 'api/v1/group/777.json']);
    const before = wholeOf(out);
    const { code, stdout } = await repair(out, register, '--json');
    expect([code, untrackedIn({ stdout })]).toEqual([0, { files: UNTRACKED, total: 5 }]);
    const after = wholeOf(out);
    for (const file of UNTRACKED) expect(after[file]).toBe(before[file]);
    expect(existsSync(join(out, 'api/v1/group/777.json'))).toBe(false);
    expect((await verifyTree(out, '--quiet')).code).toBe(0);
  });

  it.each(['a whole tree', 'a tree without snapshot.json'])(
    'of %s are deleted by --repair --delete-untracked',
    async (which) => {
      const out = await treeWith(UNTRACKED);
      const whole = contentOf(out);
      if (which !== 'a whole tree') rmSync(join(out, 'snapshot.json'));
      const { code, stdout } = await repair(out, register, '--delete-untracked', '--json');
      expect([code, untrackedIn({ stdout })]).toEqual([0, { files: UNTRACKED, total: 5 }]);
      for (const file of UNTRACKED) Reflect.deleteProperty(whole, file);
      expect(differing(contentOf(out), whole)).toEqual([]);
      expect(existsSync(join(out, 'somewhere'))).toBe(false);
      expect(untrackedIn(await verifyTree(out, '--json'))).toEqual({ files: [], total: 0 });
    },
  );

  it('are not deleted without --repair, nor if the repair is refused', async () => {
    const out = await treeWith(UNTRACKED);
    const before = wholeOf(out);
    const { code, stderr } = await verifyTree(out, '--delete-untracked');
    expect([code, stderr]).toEqual([2, expect.stringContaining('along with --repair')]);
    expect((await repair(out, path('none.sqlite'), '--delete-untracked')).code).toBe(3);
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
      const out = path('dist');
      await published({ register: both.registers[0], out });
      await interruptCommit({ register: both.registers[1], out }, step);
      const { code, stdout } = await verifyTree(out, '--quiet');
      expect([code, stdout]).toEqual([1, expect.stringMatching(/interrupted: \.\d+-dist-state\/stage/)]);
      const mended = await repair(out, both.registers[1]);
      expect([mended.code, mended.stderr]).toEqual([0, '']);
      expect(differing(contentOf(out), both.trees[1])).toEqual([]);
      await expectAtRest(out);
      // Nothing was damaged, so the way back is still there.
      const back = await inProcess('rollback', '--quiet', '--out', out);
      expect.soft([back.code, back.stderr]).toEqual([0, '']);
    },
  );

  thorough('by SIGKILL is completed by --repair', async () => {
    const many = {
      ...ROWS,
      items: Array.from({ length: 1500 }, (_, index) => ({ id: index + 1, price: index })),
    };
    const a = writeRegister(path('a.sqlite'), many);
    const out = path('dist');
    await published({ register: a, out });
    changeRegister(a, 'UPDATE items SET price = price + 1');
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const { phase } = await killBuild(a, out, 3, true);
      if (phase === 'within the commit') break;
      changeRegister(a, 'UPDATE items SET price = price + 1');
    }
    expect(named(await damageOf(out))).toContainEqual({ file: 'STATE/stage', what: 'interrupted' });
    const mended = await repair(out, a);
    expect(mended.code).toBe(0);
    expect(manifestOf(out).digest).toBe(digestOf(mirrorOf(out), manifestOf(out).routes));
    await expectAtRest(out);
  });
});

describe('verify', () => {
  thorough('shows the first hundred of many, and says how many more', async () => {
    const out = path('dist');
    await published({ register, out });
    rmSync(join(out, 'api/v1/largest'), { recursive: true });
    const { code, stdout } = await verifyTree(out, '--quiet');
    expect(code).toBe(1);
    expect(stdout.match(/^missing: /gm)).toHaveLength(SHOWN_DAMAGE);
    // One for each limit, and the largest games.
    expect(stdout).toContain('and 101 more');
    expect(stdout).toContain('201 damaged files');
  });

  it('of a folder without a tree ends with 3', async () => {
    const folder = path('folder');
    mkdirSync(folder);
    expect((await verifyTree(folder)).code).toBe(3);
    expect((await verifyTree(path('nowhere'))).code).toBe(3);
  });

  it('--repair from a register that breaks the contract changes nothing but what it can, and ends with 1', async () => {
    const out = path('dist');
    await published({ register, out });
    rmSync(join(out, 'api/v1/stats.json'));
    const broken = writeRegister(path('broken.sqlite'), ROWS, 'loose');
    changeRegister(broken, `UPDATE items SET measured_at = 'yesterday'`);
    const { code } = await repair(out, broken);
    expect(code).toBe(1);
    expect((await verifyTree(out, '--quiet')).code).toBe(1);
    expect((await repair(out, register)).code).toBe(0);
    await expectAtRest(out);
  });

  it('--repair without a register that exists touches nothing', async () => {
    const out = path('dist');
    await published({ register, out });
    writeFileSync(join(out, 'extra.html'), '');
    rmSync(join(out, 'api/v1/stats.json'));
    const before = wholeOf(out);
    const { code } = await repair(out, path('none.sqlite'));
    expect(code).toBe(3);
    expect(differing(wholeOf(out), before)).toEqual([]);
  });

  thorough('says of a snapshot.json that is no snapshot what it is, and --repair mends it', async () => {
    const out = path('dist');
    await published({ register, out });
    const before = contentOf(out);
    truncateSync(join(out, 'snapshot.json'), 50);
    const { code, stdout, stderr } = await verifyTree(out, '--quiet');
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('snapshot.json')]);
    expect((await repair(out, register)).code).toBe(0);
    expect(differing(contentOf(out), before)).toEqual([]);
  });

  it('does not mind a file that was replaced by its equal', async () => {
    const out = path('dist');
    await published({ register, out });
    const file = join(out, 'api/v1/stats.json');
    const content = readFileSync(file);
    renameSync(file, `${file}.old`);
    writeFileSync(file, content);
    rmSync(`${file}.old`);
    expect(await damageOf(out)).toEqual([]);
  });
});
