/** Signed trees, through the real command line: what each build signs, and what it refuses to sign. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { always, it, some, thorough } from '../../support/thorough.js';
import { Tree } from '../../../generator/tree/tree.js';
import { Killed, survive, withFault } from '../publish/faults.js';
import type { Fault } from '../publish/faults.js';
import {
  ROWS,
  STEP,
  buildWith,
  damageOf,
  inProcess,
  interruptCommit,
  leftovers,
  manifestOf,
  stateOf,
  temporary,
} from '../publish/support.js';
import { OPERATOR } from '../../support/build.js';
import { snapshot } from '../../support/cli.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { differing, inState } from '../../support/tree.js';
import { checkpointOf, entriesOf, logOf, problemsOf } from './published.js';
import { grow, naiveHead } from './support.js';

const path = temporary();
const ORIGIN = 'register.example/log';

interface Site {
  readonly folder: string;
  readonly register: string;
  readonly out: string;
  readonly key: string;
  /** The verifier key. */
  readonly vkey: string;
}

async function keygen(file: string, name = ORIGIN): Promise<string> {
  const { code, stderr } = await inProcess('keygen', '--name', name, '--write', file, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return readFileSync(`${file}.pub`, 'utf8').trimEnd();
}

async function site(): Promise<Site> {
  const folder = path('site');
  mkdirSync(folder);
  const key = join(folder, 'log.key');
  return {
    folder,
    register: writeRegister(join(folder, 'register.sqlite'), ROWS),
    out: join(folder, 'dist'),
    key,
    vkey: await keygen(key),
  };
}

/** The same site elsewhere, as a backup has it. */
function copied({ folder, ...site }: Site): Site {
  const copy = path('copy');
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  const at = (file: string): string => file.replace(folder, copy);
  return { ...site, folder: copy, register: at(site.register), out: at(site.out), key: at(site.key) };
}

const argsOf = (command: string, register: string, out: string): readonly string[] => {
  const options = { register, out, operator: OPERATOR };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  return [command, '--accept-removals', ...flags];
};

const build = ({ register, out, key }: Site, ...more: readonly string[]) =>
  inProcess(...argsOf('build', register, out), '--key', key, '--quiet', ...more);

async function built(of: Site, ...more: readonly string[]): Promise<void> {
  const { code, stderr } = await build(of, ...more);
  expect([code, stderr]).toEqual([0, '']);
}

/** Two snapshots. */
async function two(): Promise<Site> {
  const of = await site();
  await built(of);
  changeRegister(of.register, STEP);
  await built(of);
  return of;
}

/** The code and message of a build that is refused, which leaves everything as it was. */
async function refusalOf(of: Site, work: ReturnType<typeof build>): Promise<string> {
  const [tree, last] = [stateOf(of.out), lastOf(of)];
  const { code, stderr } = await work;
  const touched = [...differing(stateOf(of.out), tree), ...leftovers(of.out)];
  if (touched.length > 0 || lastOf(of) !== last) throw new Error(`touched ${touched.join(', ')}`);
  return `${code} ${stderr}`;
}

const lastOf = ({ key }: Site): string =>
  existsSync(`${key}.last`) ? readFileSync(`${key}.last`, 'utf8') : '';
const sizeOf = ({ out }: Site): number => checkpointOf(join(logOf(out), 'checkpoint')).size;
const sequencesOf = (of: Site): number[] =>
  entriesOf(logOf(of.out), sizeOf(of)).map((entry) => Number(/^sequence (\d+)$/m.exec(entry)?.[1]));

describe('a key', () => {
  it('is made once, for its owner alone, with its verifier key and an empty log next to it', async () => {
    const file = path('key');
    const vkey = await keygen(file);
    expect(vkey).toMatch(/^register\.example\/log\+[0-9a-f]{8}\+A/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(checkpointOf(`${file}.last`)).toEqual({
      size: 0,
      root: '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
    });
    const secret = readFileSync(file, 'utf8');
    const again = await inProcess('keygen', '--name', ORIGIN, '--write', file);
    expect(`${again.code} ${again.stderr}`).toMatch(/^3 .*exists/);
    expect(readFileSync(file, 'utf8')).toBe(secret);
  });

  it.each(['', 'two words', 'a+b', 'tab\there', 'https://register.example/log'])(
    'is not named %j',
    async (name) => {
      const file = path('key');
      const { code, stderr } = await inProcess('keygen', '--name', name, '--write', file);
      expect([code, existsSync(file)]).toEqual([2, false]);
      expect(stderr).toContain('name');
    },
  );

  it('that others can read, that is none or that lies in the tree is refused', async () => {
    const of = await site();
    await built(of);
    const open = path('open');
    writeFileSync(open, readFileSync(of.key), { mode: 0o644 });
    expect(await refusalOf(of, build({ ...of, key: open }))).toMatch(/^2 .*can be read by others/);
    expect(await refusalOf(of, build({ ...of, key: `${of.key}.pub` }))).toMatch(
      /^2 .*the private key is invalid/,
    );
    const other = path('other');
    writeFileSync(other, 'no key\n', { mode: 0o600 });
    expect(await refusalOf(of, build({ ...of, key: other }))).toMatch(
      /^2 .*key ".*" *: the private key is invalid/,
    );
    expect(await refusalOf(of, build({ ...of, key: path('none') }))).toMatch(/^3 .*does not exist/);
    const inside = join(of.folder, 'dist', 'log.key');
    writeFileSync(inside, readFileSync(of.key), { mode: 0o600 });
    const ended = await build({ ...of, key: inside });
    expect(`${ended.code} ${ended.stderr}`).toMatch(/^2 .*lies in the folder .*published/);
  });
});

describe('an empty SNAPSHOT_KEY', () => {
  thorough('counts as unset', async () => {
    const register = writeRegister(path('register.sqlite'), ROWS);
    const out = path('unsigned');
    vi.stubEnv('SNAPSHOT_KEY', '');
    try {
      const { code, stderr } = await snapshot([...argsOf('build', register, out), '--quiet']);
      expect([code, stderr]).toEqual([0, '']);
      expect(manifestOf(out)).not.toHaveProperty('log');
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('a signed tree', () => {
  it('leads from each document to the key, snapshot after snapshot', async () => {
    const of = await site();
    await built(of);
    expect(problemsOf(of.out, of.vkey)).toEqual([]);
    const before = stateOf(logOf(of.out));
    changeRegister(of.register, STEP);
    await built(of);
    expect(problemsOf(of.out, of.vkey)).toEqual([]);
    expect(sequencesOf(of)).toEqual([1, 2]);
    // What was not changed was not touched: games by id have one chunk, the looked-up names another.
    const after = stateOf(logOf(of.out));
    expect(after['index/owners-user/0.txt']).toBe(before['index/owners-user/0.txt']);
    expect(after['index/group/1.txt']).not.toBe(before['index/group/1.txt']);
    // The partial tiles of the first checkpoint stay.
    expect(after['tile/0/000.p/1']).toBe(before['tile/0/000.p/1']);
    expect(await damageOf(of.out)).toEqual([]);
  });

  thorough('has no new entry if nothing changed', async () => {
    const of = await two();
    const before = stateOf(logOf(of.out));
    await built(of);
    expect(differing(stateOf(logOf(of.out)), before)).toEqual([]);
  });

  it('forgets the lines of what is withheld, and keeps the roots', async () => {
    const of = await two();
    changeRegister(
      of.register,
      `INSERT INTO withheld (kind, id, since) VALUES ('user', 3007, '2026-11-20T08:00:00Z')`,
    );
    await built(of);
    expect(problemsOf(of.out, of.vkey)).toEqual([]);
    const files = Object.keys(stateOf(logOf(of.out)));
    expect(files.filter((file) => readFileSync(join(logOf(of.out), file)).includes('/3007'))).toEqual([]);
    expect(sequencesOf(of)).toEqual([1, 2, 3]);
  });

  thorough('begins with the snapshot that is signed first', async () => {
    const of = await site();
    await buildWith({ register: of.register, out: of.out });
    expect(existsSync(join(of.out, 'log'))).toBe(false);
    await built(of);
    expect(sequencesOf(of)).toEqual([2]);
    expect(problemsOf(of.out, of.vkey)).toEqual([]);
  });

  it('is not built without its key', async () => {
    const of = await two();
    changeRegister(of.register, `UPDATE groups SET name = 'later' WHERE id = 2`);
    const unsigned = inProcess(...argsOf('build', of.register, of.out));
    expect(await refusalOf(of, unsigned)).toMatch(/^2 .*has a signed log.*expected its key/);
    // A repair, too, before it deletes what is damaged.
    appendFileSync(join(logOf(of.out), 'checkpoint'), 'junk\n');
    const unsignedRepair = inProcess(...argsOf('verify', of.register, of.out), '--repair');
    expect(await refusalOf(of, unsignedRepair)).toMatch(/^2 .*has a signed log.*expected its key/);
  });

  thorough('is not built or repaired without its key if its log is lost', async () => {
    const of = await two();
    rmSync(join(of.out, 'log'), { recursive: true });
    for (const args of [
      argsOf('build', of.register, of.out),
      [...argsOf('verify', of.register, of.out), '--repair'],
    ]) {
      const { code, stderr } = await inProcess(...args);
      expect(`${code} ${stderr}`).toMatch(/^2 .*has a signed log.*expected its key/);
    }
  });

  thorough('is rolled back by a new entry, also to before the log', async () => {
    const of = await site();
    await buildWith({ register: of.register, out: of.out });
    await built(of);
    expect(await refusalOf(of, inProcess('rollback', '--out', of.out, '--operator', 'none.json'))).toMatch(
      /^2 .*expected its key/,
    );
    for (const sequences of [
      [2, 3],
      [2, 3, 4],
    ]) {
      const { code, stderr } = await inProcess('rollback', '--out', of.out, '--key', of.key);
      expect([code, stderr]).toEqual([0, '']);
      expect(sequencesOf(of)).toEqual(sequences);
      expect(problemsOf(of.out, of.vkey)).toEqual([]);
      expect(await damageOf(of.out)).toEqual([]);
    }
  });

  it('is completed if the commit was interrupted, and signed before the next one', async () => {
    const of = await two();
    changeRegister(of.register, `UPDATE groups SET name = 'third' WHERE id = 2`);
    const { register, out } = of;
    await interruptCommit({ register, out, key: [of.key] });
    expect(checkpointOf(`${of.key}.last`).size).toBe(2);
    changeRegister(of.register, `UPDATE groups SET name = 'fourth' WHERE id = 2`);
    await built(of);
    expect(sequencesOf(of)).toEqual([1, 2, 3, 4]);
    expect(problemsOf(of.out, of.vkey)).toEqual([]);
  });
});

thorough('completes an interrupted commit from another folder than the key was named in', async () => {
  const of = await two();
  changeRegister(of.register, `UPDATE groups SET name = 'third' WHERE id = 2`);
  const { register, out } = of;
  let isDead = false;
  const deadAfterJournal: Fault = ({ name, path: file }) => {
    if (isDead) return new Killed('dead');
    isDead = name === 'renameSync' && file === `${new Tree(out).journal}.partial`;
    return undefined;
  };
  const key = relative(process.cwd(), of.key);
  await withFault(deadAfterJournal, () => survive(buildWith({ register, out, key: [key] })));
  expect(checkpointOf(`${of.key}.last`).size).toBe(2);
  const completed = await snapshot(
    [...argsOf('build', register, out), '--key', of.key, '--quiet'],
    of.folder,
  );
  expect([completed.code, completed.stderr]).toEqual([0, '']);
  // The interrupted snapshot, and one of the program as it is, whose version is in snapshot.json.
  expect(checkpointOf(`${of.key}.last`).size).toBe(4);
  expect(problemsOf(out, of.vkey)).toEqual([]);
});

thorough('goes on if checkpoint and state were lost, and the tiles are there', async () => {
  const of = await two();
  changeRegister(of.register, `UPDATE groups SET name = 'third' WHERE id = 2`);
  const { out } = of;
  const checkpoint = join(logOf(out), 'checkpoint');
  const before = readFileSync(checkpoint);
  await built(of);
  writeFileSync(checkpoint, before);
  rmSync(inState(out), { recursive: true });
  const { root } = checkpointOf(`${of.key}.last`);
  changeRegister(of.register, `UPDATE groups SET name = 'fourth' WHERE id = 2`);
  await built(of);
  expect(sequencesOf(of)).toEqual([1, 2, 3, 4]);
  expect(naiveHead(entriesOf(logOf(out), 4).slice(0, 3)).toString('base64')).toBe(root);
  expect(problemsOf(out, of.vkey)).toEqual([]);
  expect(await damageOf(out)).toEqual([]);
});

describe('no second history is signed', () => {
  it('if a backup of the tree is restored', async () => {
    const of = await two();
    const backup = copied(of);
    changeRegister(of.register, `UPDATE groups SET name = 'third' WHERE id = 2`);
    await built(of);
    expect(await refusalOf(of, build({ ...of, out: backup.out }))).toMatch(
      /^1 .*has signed a log of 3 snapshots, and ".*" has only 2 of them.*second history/,
    );
  });

  it('if the tree is deleted', async () => {
    const of = await two();
    rmSync(of.out, { recursive: true });
    rmSync(inState(of.out), { recursive: true });
    const ended = await build(of);
    expect(`${ended.code} ${ended.stderr}`).toMatch(/^1 .*has none of them/);
    expect(existsSync(of.out)).toBe(false);
  });

  thorough('if two trees are built from one', async () => {
    const of = await two();
    const other = copied(of);
    changeRegister(of.register, `UPDATE groups SET name = 'here' WHERE id = 2`);
    changeRegister(other.register, `UPDATE groups SET name = 'there' WHERE id = 2`);
    await built(of);
    expect(await refusalOf(of, build({ ...other, key: of.key }))).toMatch(/^1 .*only 2 of them/);
    // A key that was copied with its tree knows nothing of that: only those who compare checkpoints do.
    await built(other);
    expect(checkpointOf(`${other.key}.last`).root).not.toBe(checkpointOf(`${of.key}.last`).root);
    expect(await refusalOf(of, build({ ...of, out: other.out }))).toMatch(/^1 .*has other ones/);
  });

  thorough('if only the state was deleted, since the log goes on', async () => {
    const of = await two();
    rmSync(inState(of.out), { recursive: true });
    changeRegister(of.register, `UPDATE groups SET name = 'third' WHERE id = 2`);
    await built(of);
    expect(sequencesOf(of)).toEqual([1, 2, 3]);
    expect(problemsOf(of.out, of.vkey)).toEqual([]);
  });

  thorough('if KEY.last is missing or damaged', async () => {
    const of = await two();
    const last = lastOf(of);
    rmSync(`${of.key}.last`);
    expect(await refusalOf(of, build(of))).toMatch(
      /^3 .*log\.key\.last" is missing.*newest that its log has published/,
    );
    writeFileSync(`${of.key}.last`, last.replace('2\n', '1\n'));
    expect(await refusalOf(of, build(of))).toMatch(/^1 .*log\.key\.last" is damaged/);
    // What the message says helps.
    cpSync(join(logOf(of.out), 'checkpoint'), `${of.key}.last`);
    changeRegister(of.register, `UPDATE groups SET name = 'third' WHERE id = 2`);
    await built(of);
    expect(sequencesOf(of)).toEqual([1, 2, 3]);
  });

  thorough('if somebody else has added an entry', async () => {
    const of = await two();
    const log = logOf(of.out);
    const { root } = grow(log, 2, 'register-api/snapshot@v1\n');
    const note = readFileSync(join(log, 'checkpoint'), 'utf8').split('\n');
    const forged = [note[0], '3', root.toString('base64'), ...note.slice(3)];
    writeFileSync(join(log, 'checkpoint'), forged.join('\n'));
    changeRegister(of.register, `UPDATE groups SET name = 'third' WHERE id = 2`);
    const { code, stderr } = await build(of);
    expect(`${code} ${stderr}`).toMatch(/^1 .*(entry|none of the keys has signed)/);
    // One that looks like an entry is refused for its signature.
    const other = await two();
    const folder = logOf(other.out);
    const last = entriesOf(folder, 2)[1] ?? '';
    const added = grow(folder, 2, last.replace('sequence 2', 'sequence 3'));
    const [origin, , , ...signatures] = readFileSync(join(folder, 'checkpoint'), 'utf8').split('\n');
    const lines = [origin, '3', added.root.toString('base64'), ...signatures];
    writeFileSync(join(folder, 'checkpoint'), lines.join('\n'));
    expect(await refusalOf(other, build(other))).toMatch(/^1 .*none of the keys has signed the checkpoint/);
  });

  thorough('if KEY.last is older than what the key has signed, which is published', async () => {
    const of = await two();
    const last = lastOf(of);
    changeRegister(of.register, `UPDATE groups SET name = 'third' WHERE id = 2`);
    await built(of);
    writeFileSync(`${of.key}.last`, last);
    changeRegister(of.register, `UPDATE groups SET name = 'fourth' WHERE id = 2`);
    await built(of);
    expect(sequencesOf(of)).toEqual([1, 2, 3, 4]);
    expect(problemsOf(of.out, of.vkey)).toEqual([]);
  });

  thorough('if the id of the tree is lost', async () => {
    const of = await two();
    rmSync(join(of.out, 'snapshot.json'));
    rmSync(join(of.out, 'changes'), { recursive: true });
    expect(await refusalOf(of, build(of))).toMatch(/^3 .*holds no snapshot.json/);
  });
});

describe('keys are changed', () => {
  it('by signing with both, then with the new one alone', async () => {
    const of = await two();
    const next = join(of.folder, 'next.key');
    const vkey = await keygen(next);
    await built(of, '--key', next);
    expect(problemsOf(of.out, of.vkey)).toEqual([]);
    expect(problemsOf(of.out, vkey)).toEqual([]);
    expect(manifestOf(of.out)).toMatchObject({ log: { keys: [of.vkey, vkey] } });
    changeRegister(of.register, `UPDATE groups SET name = 'third' WHERE id = 2`);
    await built({ ...of, key: next });
    expect(problemsOf(of.out, vkey)).toEqual([]);
    expect(checkpointOf(`${of.key}.last`).size).toBe(3);
    expect(sequencesOf(of)).toEqual([1, 2, 3, 4]);
  });

  thorough('by going on with a new one after the old one was lost', async () => {
    const of = await two();
    rmSync(of.key);
    const next = join(of.folder, 'next.key');
    const vkey = await keygen(next);
    await built({ ...of, key: next });
    expect(sequencesOf(of)).toEqual([1, 2, 3]);
    expect(problemsOf(of.out, vkey)).toEqual([]);
  });

  thorough('but not to another name', async () => {
    const of = await two();
    const next = join(of.folder, 'next.key');
    await keygen(next, 'other.example/log');
    expect(await refusalOf(of, build({ ...of, key: next }))).toMatch(
      /^2 .*named "other\.example\/log", expected "register/,
    );
    expect(await refusalOf(of, build(of, '--key', next))).toMatch(/^2 .*expected "register\.example\/log"/);
    expect(await refusalOf(of, build(of, '--key', of.key))).toMatch(/^2 .*twice/);
  });
});

describe('verify', () => {
  const files = [
    'checkpoint',
    'tile/0/000.p/2',
    'index/routes.txt',
    'index/group/1.txt',
    'index/group/chunks.txt',
    'index/user/chunks-0.txt',
  ];
  always.each(some(files, 1))(
    'names a damaged or missing %s, and a repair restores what can be',
    async (file) => {
      const of = await two();
      for (const what of ['altered', 'missing'] as const) {
        const damaged = copied(of);
        const place = join(logOf(damaged.out), file);
        const content = readFileSync(place);
        if (what === 'missing') rmSync(place);
        else
          writeFileSync(
            place,
            Buffer.concat([
              content.subarray(0, -3),
              Buffer.from([content.at(-3)! ^ 1]),
              content.subarray(-2),
            ]),
          );
        const name = place.slice(damaged.out.length + 1);
        expect(await damageOf(damaged.out)).toEqual([{ file: name, what }]);
        const { register, out, key } = damaged;
        const { code, stderr } = await inProcess(
          ...argsOf('verify', register, out),
          '--repair',
          '--key',
          key,
        );
        expect([code, stderr]).toEqual([0, '']);
        expect(problemsOf(out, of.vkey)).toEqual([]);
        expect(readFileSync(place)).toEqual(content);
      }
    },
  );

  it('names damaged or missing entries, and says that a copy has them', async () => {
    const of = await two();
    const place = join(logOf(of.out), 'tile/entries/000.p/2');
    const content = readFileSync(place);
    const name = place.slice(of.out.length + 1);
    for (const damage of ['altered', 'missing']) {
      rmSync(place);
      if (damage === 'altered') writeFileSync(place, content.subarray(0, -1));
      const { code, stdout } = await inProcess('verify', '--out', of.out);
      expect(code).toBe(1);
      expect(stdout).toContain(`${damage}: ${name}\n`);
      expect(stdout).toContain('restore them from a copy (see docs/signed-log.md)');
      const repair = await inProcess(...argsOf('verify', of.register, of.out), '--repair', '--key', of.key);
      expect(`${repair.code} ${repair.stderr}`).toMatch(/^1 .*the log is damaged.*see docs\/signed-log\.md/);
    }
    writeFileSync(place, content);
    expect(await damageOf(of.out)).toEqual([]);
  });

  thorough('names what does not belong to the log', async () => {
    const of = await two();
    const extra = [
      'log/stray',
      'log/0123456789abcdef/checkpoint',
      `${logOf(of.out).slice(of.out.length + 1)}/index/group/2.txt`,
    ];
    for (const file of extra) {
      mkdirSync(join(of.out, file, '..'), { recursive: true });
      writeFileSync(join(of.out, file), 'x');
    }
    const found = (await damageOf(of.out)).map(({ file, what }) => `${what} ${file}`);
    expect(found.toSorted()).toEqual(
      [`extra log/0123456789abcdef`, `extra ${extra[2]}`, 'extra log/stray'].toSorted(),
    );
  });

  it('notices another history than it has verified before', async () => {
    const of = await two();
    const backup = copied(of);
    changeRegister(of.register, `UPDATE groups SET name = 'third' WHERE id = 2`);
    await built(of);
    expect(await damageOf(of.out)).toEqual([]);
    cpSync(inState(of.out, 'checkpoint'), inState(backup.out, 'checkpoint'));
    const log = logOf(backup.out).slice(backup.out.length + 1);
    expect(await damageOf(backup.out)).toEqual([{ file: `${log}/checkpoint`, what: 'rewritten' }]);
  });

  thorough('says which file is damaged if it is the checkpoint that it has verified before', async () => {
    const of = await two();
    expect(await damageOf(of.out)).toEqual([]);
    writeFileSync(inState(of.out, 'checkpoint'), '');
    const { code, stderr } = await inProcess(...argsOf('verify', of.register, of.out));
    expect(`${code} ${stderr}`).toMatch(/^3 .*checkpoint" is damaged.*delete it/);
  });
});
