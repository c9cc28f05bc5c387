/** Several connections see one state of the register, whatever a writer does meanwhile. */
import { renameSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { Register } from '../../../generator/register/database.js';
import { Watcher } from '../../../generator/register/snapshot.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { temporary } from '../../support/folder.js';
import { writeRegister } from '../../support/register.js';
import { containing } from '../../support/values.js';

const path = temporary();
const price = (register: Register): unknown => [...register.rows('SELECT price FROM items')][0]?.[0];

it('two connections see one state of the register, though a writer commits all the time', async () => {
  const file = writeRegister(path('busy.sqlite'), { items: [{ id: 1, price: 0 }] });
  const writer = openDatabase(file);
  writer.pragma('journal_mode = WAL');
  const [one, two, watcher] = [Register.open(file), Register.join(file), new Watcher(file)];
  onTestFinished(() => void [one, two, watcher, writer].map((each) => each.close()));
  let commits = 0;
  const commit = (): void => {
    writer.exec('UPDATE items SET price = price + 1');
    commits += 1;
  };
  for (let round = 0; round < 40; round += 1) {
    let restarts = 0;
    // A commit between the two, in the first attempts.
    const restartRead = (): void => {
      restarts += 1;
      if (restarts <= round % 4) commit();
    };
    await watcher.openAll([one, { restartRead }, two], new Date());
    expect([restarts, watcher.isCurrent()]).toEqual([(round % 4) + 1, true]);
    const seen = commits;
    expect([price(one), price(two)]).toEqual([seen, seen]);
    commit();
    expect([price(one), price(two), watcher.isCurrent()]).toEqual([seen, seen, false]);
  }
});

it('two connections of which one sees another file end with 3', async () => {
  const [file = '', other = ''] = ['one', 'two'].map((name) =>
    writeRegister(path(name), { items: [{ id: 1 }] }),
  );
  const [watcher, one] = [new Watcher(file), Register.open(file)];
  renameSync(other, file);
  const two = Register.open(file);
  const refused = { exitCode: 3, message: containing('was replaced') };
  await expect(watcher.openAll([one, two], new Date())).rejects.toMatchObject(refused);
  for (const each of [one, two, watcher]) each.close();
});
