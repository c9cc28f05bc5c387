/** Nothing in the first level of a tree or its state is a symbolic link, and no file is read or written through one. */
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
import { describe, expect } from 'vitest';
import { inputs } from '../../support/cli.js';
import { pair, site } from '../../support/site.js';
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

const saying = (place: string): unknown =>
  expect.stringContaining(`"${place}" is a symbolic link, and nothing in a tree or its state is`);

const PLACES = ['api', 'lists', 'snapshot.json', 'state.json', 'changes', 'index.html'];

always.each(some(PLACES, 3))(
  'a link in the first level stops every command, which names it: %s',
  async (name) => {
    const { register, out } = await site(path);
    const place = existsSync(inState(out, name)) ? inState(out, name) : join(out, name);
    const { putBack } = linked(place);
    const before = [wholeOf(out), wholeOf(inState(out))];
    for (const command of [
      ['build', ...inputs(register, out)],
      ['verify', '--out', out],
      ['verify', '--repair', ...inputs(register, out)],
    ]) {
      const { code, stderr } = await inProcess(...command, '--quiet');
      expect.soft([command[0], code, stderr]).toEqual([command[0], 3, saying(place)]);
    }
    expect([wholeOf(out), wholeOf(inState(out))]).toEqual(before);
    putBack();
    expect(await damageOf(out)).toEqual([]);
  },
);

it('a link that came within a commit stops its completion, and it is completed once there is none', async () => {
  const { registers, trees, tree } = await pair(path);
  const made = { register: registers[1], out: tree() };
  await interruptCommit(made, 5);
  const { elsewhere, putBack } = linked(join(made.out, 'api'));
  const before = wholeOf(elsewhere);
  const { exitCode, message } = await failureOf(buildWith(made));
  expect([exitCode, message]).toEqual([3, saying(join(made.out, 'api'))]);
  expect(differing(wholeOf(elsewhere), before)).toEqual([]);
  putBack();
  await buildWith(made);
  expect(differing(contentOf(made.out), trees[1])).toEqual([]);
  await expectAtRest(made.out);
});

describe('a file below that is a link', () => {
  const FILES = ['api/v1/game/3.json', 'downloads/games.csv', 'api/v1/item/5.json.gz'];

  it('is replaced and deleted itself, and not what it leads to', async () => {
    const made = await site(path);
    for (const sql of [`UPDATE games SET name = 'new' WHERE id = 3`, 'DELETE FROM games WHERE id = 3']) {
      const led = FILES.slice(0, 2).map((file) => linked(join(made.out, file)).elsewhere);
      for (const elsewhere of led) writeFileSync(elsewhere, 'of somebody else');
      await made.build(sql);
      for (const elsewhere of led) expect(readFileSync(elsewhere, 'utf8')).toBe('of somebody else');
      expect(await damageOf(made.out)).toEqual([]);
    }
  });

  it('is damage that verify finds and --repair replaces, whatever it leads to', async () => {
    const made = await site(path);
    const led = FILES.map((file) => linked(join(made.out, file)).elsewhere);
    expect((await damageOf(made.out)).toSorted((a, b) => (a.file < b.file ? -1 : 1))).toEqual(
      FILES.toSorted().map((file) => ({ file, what: 'altered' })),
    );
    const { code } = await inProcess('verify', '--repair', '--quiet', ...inputs(made.register, made.out));
    expect([code, led.every((elsewhere) => existsSync(elsewhere))]).toEqual([0, true]);
    for (const file of FILES) expect(lstatSync(join(made.out, file)).isFile()).toBe(true);
    expect(await damageOf(made.out)).toEqual([]);
  });
});

it('a state that is itself a link is followed, as the tree may be', async () => {
  const both = await pair(path);
  const [out, elsewhere] = [path('dist'), path('elsewhere')];
  mkdirSync(elsewhere);
  cpSync(both.tree(), out, { recursive: true });
  symlinkSync(elsewhere, inState(out));
  await buildWith({ register: both.registers[1], out });
  expect(readdirSync(elsewhere)).toContain('state.json');
  expect(differing(contentOf(out), both.trees[1])).toEqual([]);
  rmSync(elsewhere, { recursive: true });
});
