/** Damage of the disk that SQLite doesn't notice: a row of the state says something else than was written. */
import { describe, expect } from 'vitest';
import { nameOf } from '../../../generator/programs/verify/verify.js';
import { quiet } from '../../support/build.js';
import { buildArgs, inputs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { contentOf, manifestOf } from '../../support/published.js';
import { changeRegister } from '../../support/register.js';
import { buildWith, fresh, pair, site } from '../../support/site.js';
import { always, isThorough } from '../../support/thorough.js';
import { differing } from '../../support/tree.js';
import { withoutSync } from '../publish/faults.js';
import { databaseOf, expectContent, filesIn, inShell } from './support.js';

const path = temporary();
withoutSync();

const GROUPS = "(SELECT id FROM route WHERE name = 'group')";
const altered = (out: string): string => `altered: ${nameOf(databaseOf(out))}`;

/** What is changed in the state, and whether its digest and sums tell, or only a look at the chunk itself. */
const DAMAGES = [
  [
    'the hash of a document',
    `UPDATE document SET hash = zeroblob(32) WHERE route = ${GROUPS} AND key = 5`,
    'look',
  ],
  ['the leaf of a chunk', `UPDATE chunk SET leaf = zeroblob(32) WHERE route = ${GROUPS}`, 'sums'],
  [
    'the size of a document',
    `UPDATE document SET bytes = bytes + 1 WHERE route = ${GROUPS} AND key = 5`,
    'sums',
  ],
  ['the key of a document', `UPDATE document SET key = 1005 WHERE route = ${GROUPS} AND key = 5`, 'sums'],
  ['a document too many', `INSERT INTO document VALUES (${GROUPS}, 1005, 7, zeroblob(32))`, 'sums'],
  ['a document too few', `DELETE FROM document WHERE route = ${GROUPS} AND key = 5`, 'sums'],
  ['the size of a chunk', `UPDATE chunk SET bytes = bytes + 1 WHERE route = ${GROUPS}`, 'sums'],
  ['how many documents a chunk has', `UPDATE chunk SET documents = 19 WHERE route = ${GROUPS}`, 'sums'],
] as const;

describe.each(isThorough ? DAMAGES : DAMAGES.slice(0, 2))('damage to %s', (_, sql, seenBy) => {
  always('is reported by verify, and mended by a repair', async () => {
    const { register, out } = await site(path);
    const content = contentOf(out);
    inShell(out, (database) => database.exec(sql));
    const before = filesIn(out);
    const found = await inProcess('verify', '--out', out);
    expect(found.code).toBe(1);
    expect(found.stdout).toContain(altered(out));
    expect(differing(filesIn(out), before)).toEqual([]);
    const repaired = await inProcess('verify', '--repair', '--quiet', ...inputs(register, out));
    expect([repaired.code, repaired.stderr]).toEqual([0, '']);
    expect(repaired.stdout).toContain(altered(out));
    await expectContent(out, content);
  });

  always('has a build that touches its chunk say so, rebuild the state, and go on', async () => {
    const both = await pair(path);
    const out = both.tree();
    inShell(out, (database) => database.exec(sql));
    const said: string[] = [];
    const progress = Object.assign(quiet(), { start: (title: string) => void said.push(title) });
    const warn = (line: string): void => void said.push(line);
    await buildWith({ register: both.registers[1], out }, { progress, warn });
    expect(said).toContain('rebuilding the state from the published files');
    expect(said.filter((line) => line.startsWith('warning'))).toEqual(
      seenBy === 'sums'
        ? []
        : [
            `warning: the state "${databaseOf(out)}" is damaged: documents of the route group; ` +
              'the published tree is what it was; the state is rebuilt from the published files now',
          ],
    );
    await expectContent(out, both.trees[1]);
    expect(manifestOf(out).sequence).toBe(2);
  });
});

always(
  'a damaged chunk that no build touches stays unnoticed by builds, and does not harm them',
  async () => {
    const one = await site(path);
    inShell(one.out, (database) => database.exec(DAMAGES[0][1]));
    changeRegister(one.register, "UPDATE users SET username = 'renamed' WHERE id = 7007");
    const { code, stderr } = await inProcess(...buildArgs(one.register, one.out));
    expect([code, stderr]).toEqual([0, '']);
    expect(differing(contentOf(one.out), await fresh(one.register, path('fresh')))).toEqual([]);
    const { stdout } = await inProcess('verify', '--out', one.out);
    expect(stdout).toContain(altered(one.out));
  },
);
