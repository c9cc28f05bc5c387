/** Nothing in a tree or its state is read, written or deleted through a symbolic link. */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { inputs } from '../../support/cli.js';
import { pair, site, type Pair } from '../../support/site.js';
import { allRows } from '../../support/state.js';
import { always, it, some } from '../../support/thorough.js';
import { differing, inState } from '../../support/tree.js';
import {
  buildWith,
  contentOf,
  damageOf,
  expectAtRest,
  failureOf,
  inProcess,
  interruptCommit,
  sha256,
  temporary,
  wholeOf,
} from './support.js';

const path = temporary();

/** Moves something elsewhere and leaves a link to it. @returns where it is, and what puts it back */
function linked(place: string) {
  const elsewhere = path(basename(place));
  renameSync(place, elsewhere);
  symlinkSync(elsewhere, place);
  return {
    elsewhere,
    putBack: () => {
      unlinkSync(place);
      renameSync(elsewhere, place);
    },
  };
}

/** What is in a tree and its state, with inodes and times of files; a build that changes nothing leaves it so. */
const all = (out: string) => {
  const { tree: _, 'state.sqlite': __, ...state } = wholeOf(inState(out));
  return { tree: wholeOf(out), state, rows: allRows(out) };
};

/** Folders of which the step to the second register changes, adds or removes files. */
const FOLDERS = ['api', 'api/v1/game', 'group/6', 'changes', 'downloads/documents', 'feeds'];

const saying = (out: string, name: string): unknown =>
  expect.stringContaining(`"${join(out, name)}" is a symbolic link, and nothing in a tree or its state is`);

describe('a folder of the tree that is a link', () => {
  let both: Pair;
  beforeAll(async () => {
    both = await pair(path);
  });
  const flags = () => ({ register: both.registers[1], out: both.tree() });

  always.each(some(FOLDERS, 3))(
    'stops a build that has to do with it, which names it: %s',
    async (folder) => {
      const { register, out } = flags();
      const { elsewhere } = linked(join(out, folder));
      const before = [all(out), wholeOf(elsewhere)];
      const { exitCode, message } = await failureOf(buildWith({ register, out }));
      expect.soft([exitCode, message]).toEqual([3, saying(out, folder)]);
      expect.soft(message).not.toContain('the commit had begun');
      expect([all(out), wholeOf(elsewhere)]).toEqual(before);
    },
  );

  it('does not matter if no route leads there', async () => {
    const { register, out } = flags();
    const elsewhere = path('elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(out, 'mine'));
    expect(await buildWith({ register, out })).toMatchObject({ published: true });
    expect([lstatSync(join(out, 'mine')).isSymbolicLink(), readdirSync(elsewhere)]).toEqual([true, []]);
  });

  always.each(some([1, 2, 3, 5, 8], 2))(
    'stops the completion of a commit that was interrupted at step %i, which is completed once it is none',
    async (step) => {
      const made = flags();
      await interruptCommit(made, step);
      const { elsewhere, putBack } = linked(join(made.out, 'api'));
      const before = wholeOf(elsewhere);
      const { exitCode, message } = await failureOf(buildWith(made));
      expect([exitCode, message]).toEqual([3, saying(made.out, 'api')]);
      const hint = 'the commit had begun, and the next build or verify --repair completes it';
      expect(message.slice(-hint.length)).toBe(hint);
      const repair = ['verify', '--repair', '--quiet', ...inputs(made.register, made.out)];
      const { code, stderr } = await inProcess(...repair);
      expect([code, stderr]).toEqual([3, saying(made.out, 'api')]);
      expect(differing(wholeOf(elsewhere), before)).toEqual([]);
      putBack();
      expect(await buildWith(made)).toMatchObject({ published: true });
      expect(differing(contentOf(made.out), both.trees[1])).toEqual([]);
      await expectAtRest(made.out);
    },
  );

  it('of changes stops verify and --repair as well', async () => {
    const { register, out } = flags();
    await buildWith({ register, out });
    const { elsewhere, putBack } = linked(join(out, 'changes'));
    const before = [all(out), wholeOf(elsewhere)];
    for (const command of [
      ['verify', '--out', out],
      ['verify', '--repair', ...inputs(register, out)],
      ['build', ...inputs(register, out)],
    ]) {
      const { code, stderr } = await inProcess(...command, '--quiet');
      expect.soft([command[0], code, stderr]).toEqual([command[0], 3, saying(out, 'changes')]);
    }
    expect([all(out), wholeOf(elsewhere)]).toEqual(before);
    putBack();
    expect(await damageOf(out)).toEqual([]);
  });
});

describe('a file of the tree that is a link', () => {
  const GAME = 'api/v1/game/3.json';

  it('is replaced and deleted itself, and not what it leads to; downloads are neither kept nor made from it', async () => {
    const made = await site(path);
    const places = [GAME, 'downloads/games.csv'].map((file) => join(made.out, file));
    for (const sql of [`UPDATE games SET name = 'new' WHERE id = 3`, 'DELETE FROM games WHERE id = 3']) {
      const led = places.map((place) => linked(place).elsewhere);
      for (const elsewhere of led) writeFileSync(elsewhere, 'of somebody else');
      await made.build(sql, { keepDownloads: true });
      const isFile = places.map((place) => existsSync(place) && lstatSync(place).isFile());
      expect(isFile).toEqual([sql.startsWith('UPDATE'), true]);
      for (const elsewhere of led) expect(readFileSync(elsewhere, 'utf8')).toBe('of somebody else');
      expect(await damageOf(made.out)).toEqual([]);
    }
  });

  it('is damage that verify finds and --repair replaces, whatever it leads to', async () => {
    const made = await site(path);
    const files = [GAME, 'api/v1/item/5.json.gz', 'downloads/games.csv'];
    const led = files.map((file) => linked(join(made.out, file)).elsewhere);
    expect(await damageOf(made.out)).toEqual(files.map((file) => ({ file, what: 'altered' })));
    const { code } = await inProcess('verify', '--repair', '--quiet', ...inputs(made.register, made.out));
    expect([code, led.every((elsewhere) => existsSync(elsewhere))]).toEqual([0, true]);
    for (const file of files) expect(lstatSync(join(made.out, file)).isFile()).toBe(true);
    expect(await damageOf(made.out)).toEqual([]);
  });

  it.each(['snapshot.json', 'changes/index.json'])('and is our own stops every build: %s', async (file) => {
    const made = await site(path);
    const { putBack } = linked(join(made.out, file));
    const { exitCode, message } = await failureOf(made.build('DELETE FROM items WHERE id = 1'));
    expect([exitCode, message]).toEqual([3, saying(made.out, file)]);
    putBack();
    await made.build();
    await expectAtRest(made.out);
  });
});

/** What is below a folder, or in a file. */
const contentIn = (place: string): readonly string[] =>
  lstatSync(place).isDirectory() ? Object.keys(wholeOf(place)) : [sha256(readFileSync(place))];

describe('a link in the state', () => {
  always.each(some(['state.sqlite', 'stage', 'tree'], 2))(
    'stops whatever would work with it: %s',
    async (part) => {
      const made = await site(path);
      const place = inState(made.out, part);
      if (!existsSync(place)) mkdirSync(place, { recursive: true });
      const { elsewhere } = linked(place);
      const before = [wholeOf(made.out), contentIn(elsewhere)];
      for (const command of [
        ['build', ...inputs(made.register, made.out)],
        ['verify', '--out', made.out],
        ['verify', '--repair', ...inputs(made.register, made.out)],
      ]) {
        const { code, stderr } = await inProcess(...command, '--quiet');
        expect.soft([command[0], code, stderr]).toEqual([command[0], 3, saying(inState(made.out), part)]);
      }
      expect([wholeOf(made.out), contentIn(elsewhere)]).toEqual(before);
    },
  );

  it('that is the state itself is followed, as the tree may be', async () => {
    const both = await pair(path);
    const [out, elsewhere] = [path('dist'), path('elsewhere')];
    mkdirSync(elsewhere);
    cpSync(both.tree(), out, { recursive: true });
    symlinkSync(elsewhere, inState(out));
    await buildWith({ register: both.registers[1], out });
    expect(readdirSync(elsewhere)).toContain('state.sqlite');
    expect(differing(contentOf(out), both.trees[1])).toEqual([]);
    rmSync(elsewhere, { recursive: true });
  });
});
