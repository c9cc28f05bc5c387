/** What docs/signed-log.md says of a tree that is old or lost, run as it stands there. */
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, type Ended } from '../../deploy/run.js';
import { SAMPLE_ID } from '../../../generator/register/database.js';
import { logOf, problemsOf, sequencesOf } from '../../generator/programs/log/published.js';
import { OPERATOR } from '../../support/build.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { startProxy, type RunningProxy } from '../../support/proxy.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { containing } from '../../support/values.js';

const path = temporary();
const PAGE = readFileSync(join(PROJECT, 'docs/signed-log.md'), 'utf8');
const [, RECIPE = ''] = /^\*\*No tree\*\*.*?^```sh\n(.*?)^```$/ms.exec(PAGE) ?? [];
const BUILD = 'npm run snapshot -- build --quiet --key /srv/register/log.key';

/** A site as the command line finds it, the backup of its first snapshot, and a mirror of its second. */
const site = path('site');
const [out, key, register] = [join(site, 'dist'), join(site, 'log.key'), join(site, 'data/register.sqlite')];
const [backup, copies] = [path('backup'), path('copies')];
let mirror: RunningProxy;

/** Runs lines of the page in the folder of the site. */
const shell = (lines: string): Promise<Ended> => {
  const program = `"${process.execPath}" "${join(PROJECT, 'build/generator/cli.js')}"`;
  const here = lines
    .replaceAll('npm run snapshot --', program)
    .replaceAll('/srv/register/log.key', key)
    .replaceAll('https://mirror.example', mirror?.base);
  return run(['sh', '-euc', `cd "${site}"\n${here}`]);
};

async function next(name: string): Promise<void> {
  changeRegister(register, `UPDATE groups SET name = '${name}'`);
  expect(await shell(BUILD)).toEqual({ code: 0, output: '' });
}

/** The state is lost along with the tree; the key and what it signed last are not. */
function lose(): void {
  for (const folder of [out, join(site, '.dist-state')]) rmSync(folder, { recursive: true, force: true });
}

const vkey = (): string => readFileSync(`${key}.pub`, 'utf8').trimEnd();

/** The numbers of the signed snapshots; what is wrong with the log, if anything is. */
const signed = () => [...problemsOf(out, vkey()), ...sequencesOf(out)];

beforeAll(async () => {
  mkdirSync(join(site, 'data'), { recursive: true });
  cpSync(OPERATOR, join(site, 'data/operator.json'));
  writeRegister(register, { groups: [{ id: 7, name: 'seven' }] });
  // So that the recipe, which names no operator, is not warned.
  changeRegister(register, `PRAGMA application_id = ${SAMPLE_ID}`);
  await shell('npm run snapshot -- keygen --name register.example/log --write /srv/register/log.key');
  await next('first');
  cpSync(site, backup, { recursive: true });
  await next('second');
  cpSync(out, join(copies, 'dist'), { recursive: true });
  mirror = await startProxy(join(copies, 'dist'));
});
afterAll(() => mirror.stop());

describe('a tree with a signed log', () => {
  it('that is lost comes back by the recipe, and its log goes on', async () => {
    lose();
    expect(await shell(BUILD)).toEqual({ code: 1, output: containing('has none of them') });
    // Its log alone is not enough.
    cpSync(join(copies, 'dist/log'), join(out, 'log'), { recursive: true });
    expect(await shell(BUILD)).toEqual({ code: 3, output: containing('holds no snapshot.json') });
    changeRegister(register, `UPDATE groups SET name = 'third'`);
    expect(await shell(RECIPE)).toEqual({ code: 0, output: containing('matches its state and digest') });
    expect(signed()).toEqual([1, 2, 3]);
    // And is no copy.
    await next('fourth');
    expect(signed()).toEqual([1, 2, 3, 4]);
  });

  it('that is an old one goes on with the newest log', async () => {
    const log = logOf(out);
    cpSync(log, join(copies, basename(log)), { recursive: true });
    const entries = sequencesOf(out).length;
    lose();
    for (const name of ['dist', '.dist-state'])
      cpSync(join(backup, name), join(site, name), { recursive: true });
    expect(await shell(BUILD)).toEqual({ code: 1, output: containing('has only 1 of them') });
    cpSync(join(copies, basename(log)), log, { recursive: true });
    await next('later');
    expect(signed()).toEqual(Array.from({ length: entries + 1 }, (_, index) => index + 1));
  });
});
