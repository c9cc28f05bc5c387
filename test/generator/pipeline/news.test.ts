/** What is new, in one sentence, at the end of a build and of a diff. */
import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { inState } from '../../support/tree.js';

const path = temporary();

const [T1, T2] = ['2026-11-19T08:00:00Z', '2026-11-20T08:00:00Z'];
/** Two groups with readings, one that will be gone, and a user. */
const register = (): string =>
  writeRegister(
    path('register.sqlite'),
    `INSERT INTO groups (id, name, measured_at, owner_state, owner_id) VALUES (3, NULL, '${T1}', NULL, NULL),
       (1, 'The Midnight Bakery', '${T1}', NULL, NULL), (2, 'Mill', '${T1}', 'owned', 9);
     INSERT INTO users (id, username, measured_at) VALUES (9, 'ann', '${T1}');
     INSERT INTO group_member_readings VALUES (1, '${T1}', 100), (2, '${T1}', 100);
     INSERT INTO group_names VALUES (1, 1, 'The Midnight Bakery', NULL, '${T1}', '${T1}'),
       (2, 1, 'Mill', NULL, '${T1}', '${T1}');
     INSERT INTO group_owners VALUES (2, 1, 'owned', 9, NULL, '${T1}', '${T1}');`,
  );

/** A night: a group gained, one was renamed and lost its owner, one came with a former name, one is withheld. */
const NIGHT = `
  UPDATE groups SET measured_at = '${T2}' WHERE id < 3;
  INSERT INTO group_member_readings VALUES (1, '${T2}', 6428), (2, '${T2}', 101);
  UPDATE groups SET name = 'Old Mill', owner_state = 'none', owner_id = NULL WHERE id = 2;
  INSERT INTO group_names VALUES (2, 2, 'Old Mill', NULL, '${T2}', '${T2}');
  INSERT INTO group_owners VALUES (2, 2, 'none', NULL, NULL, '${T2}', '${T2}');
  INSERT INTO groups (id, name, first_measured_at, measured_at) VALUES (4, 'New', '${T2}', '${T2}');
  INSERT INTO group_names VALUES (4, 1, 'Newer', NULL, '${T2}', '${T2}'), (4, 2, 'New', NULL, '${T2}', '${T2}');
  INSERT INTO withheld VALUES ('group', 3, '${T2}');`;

const SENTENCE =
  'Since snapshot 1: 1 new group, 1 group renamed, 1 group with a new owner, 2 records changed;' +
  ' largest gain in 24 hours The Midnight Bakery +6,328; 1 record gone';

const lastLine = ({ stdout }: { readonly stdout: string }) => stdout.trim().split('\n').at(-1);

it('a build ends with what is new, as a diff before it, and says where that can’t be told', async () => {
  const out = path('dist');
  const args = ['--register', register(), '--out', out];
  const change = (sql: string): void => changeRegister(args[1] ?? '', sql);
  const first = 'The first snapshot: 3 groups, 1 user';
  expect(lastLine(await inProcess('build', ...args))).toBe(first);
  change(NIGHT);
  expect(lastLine(await inProcess('diff', ...args))).toBe(SENTENCE);
  const built = await inProcess('build', '--json', ...args);
  expect(JSON.parse(built.stdout)).toMatchObject({ published: true, news: SENTENCE });
  const again = await inProcess('build', '--json', ...args);
  expect(JSON.parse(again.stdout)).toMatchObject({ published: false, news: null });
  // No record made room in the lists of changes for what is no news.
  change(`UPDATE groups SET description = 'changed' WHERE id = 1`);
  expect(lastLine(await inProcess('build', ...args))).toBe('Since snapshot 2: 1 record changed');
  change(`UPDATE groups SET description = 'again' WHERE id = 1`);
  rmSync(inState(out, 'lists'), { recursive: true });
  const lost = "What is new since snapshot 3 can't be told: its lists are lost";
  expect(lastLine(await inProcess('build', ...args))).toBe(lost);
});
