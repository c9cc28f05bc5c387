/** Nothing in the first level of a tree or its state is a symbolic link, and no file is read or written through one. */
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { inputs } from '../../support/cli.js';
import { pair, site, buildWith, failureOf } from '../../support/site.js';
import { differing, inState } from '../../support/tree.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { expectTree, damageOf, interruptCommit, wholeOf } from './support.js';

const path = temporary();

/** Moves something elsewhere and leaves a link to it. @returns where it is, and what puts it back */
function linked(place: string) {
  const elsewhere = path(basename(place));
  renameSync(place, elsewhere);
  symlinkSync(elsewhere, place);
  return {
    elsewhere,
    putBack: () => {
      rmSync(place);
      renameSync(elsewhere, place);
    },
  };
}

const saying = (place: string): unknown =>
  expect.stringContaining(`"${place}" is a symbolic link, and nothing in a tree or its state is`);

it.each(['api', 'state.json', 'index.html'])('a link at %s stops every command', async (name) => {
  const { register, out } = await site(path);
  const place = existsSync(inState(out, name)) ? inState(out, name) : join(out, name);
  const { putBack } = linked(place);
  const before = [wholeOf(out), wholeOf(inState(out))];
  for (const command of [
    ['build', ...inputs(register, out)],
    ['build', '--dry-run', ...inputs(register, out)],
    ['verify', '--out', out],
    ['verify', '--repair', ...inputs(register, out)],
  ]) {
    const { code, stderr } = await inProcess(...command, '--quiet');
    expect.soft([command[0], code, stderr]).toEqual([command[0], 3, saying(place)]);
  }
  expect([wholeOf(out), wholeOf(inState(out))]).toEqual(before);
  putBack();
  expect(await damageOf(out)).toEqual([]);
});

it('a link that came within a commit stops its completion, and it is completed once there is none', async () => {
  const { registers, trees, tree } = await pair(path);
  const made = { register: registers[1], out: tree() };
  await interruptCommit(made, 5);
  const { elsewhere, putBack } = linked(join(made.out, 'api'));
  const before = wholeOf(elsewhere);
  const refused = { exitCode: 3, message: saying(join(made.out, 'api')) };
  expect(await failureOf(buildWith(made))).toMatchObject(refused);
  expect(differing(wholeOf(elsewhere), before)).toEqual([]);
  putBack();
  await buildWith(made);
  await expectTree(made.out, trees[1]);
});

it('a file below that is a link is replaced and deleted itself, and not what it leads to', async () => {
  const made = await site(path);
  for (const sql of [`UPDATE games SET name = 'new' WHERE id = 3`, 'DELETE FROM games WHERE id = 3']) {
    const led = ['api/v1/game/3.json', 'downloads/games.csv'].map((file) => linked(join(made.out, file)));
    for (const { elsewhere } of led) writeFileSync(elsewhere, 'of somebody else');
    await made.build(sql);
    for (const { elsewhere } of led) expect(readFileSync(elsewhere, 'utf8')).toBe('of somebody else');
    expect(await damageOf(made.out)).toEqual([]);
  }
});

it('a state that is itself a link is followed, as the tree may be', async () => {
  const made = await site(path);
  const { elsewhere } = linked(inState(made.out));
  expect(await made.build('UPDATE items SET price = 50 WHERE id = 1')).toMatchObject({ sequence: 2 });
  expect(existsSync(join(elsewhere, 'state.json'))).toBe(true);
  expect(await damageOf(made.out)).toEqual([]);
});
