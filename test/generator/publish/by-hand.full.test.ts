/** The commands by which docs/publishing.md has a tree copied by rsync, run as they stand there. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CLI, buildArgs } from '../../support/cli.js';
import { has } from '../../support/programs.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { standIn } from '../../support/stand-in.js';
import { PROJECT, temporary } from '../../support/folder.js';
import { hashesOf } from '../../support/published.js';
import { ROWS, STEP } from '../../support/site.js';

const path = temporary();

it.runIf(has('copies by rsync', 'rsync'))('a copy by hand is the tree, without what is withheld', () => {
  const folder = path('site');
  mkdirSync(join(folder, 'copy'), { recursive: true });
  const [out, copy] = [join(folder, 'dist'), join(folder, 'copy')];
  const register = writeRegister(join(folder, 'register.sqlite'), ROWS);
  // `npm run snapshot -- build` with options.
  const command = [process.execPath, CLI, ...buildArgs(register, out)].join(' ');
  standIn(path('bin'), 'npm', `shift 4; exec ${command} "$@"`);
  const [, section = ''] =
    /\n### By hand\n(.*?)\n### /s.exec(readFileSync(join(PROJECT, 'docs/publishing.md'), 'utf8')) ?? [];
  const [byLists = '', whole = ''] = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, code = '']) =>
    code.replaceAll('/srv/copy', copy).replaceAll('/tmp/', `${folder}/`),
  );
  const run = (commands: string): void => {
    execFileSync('sh', ['-ec', commands], { cwd: folder });
    expect(hashesOf(copy)).toEqual(hashesOf(out));
  };
  run(byLists);
  // rsync takes a file of the same size and second for the same one.
  execFileSync('sleep', ['1.1']);
  changeRegister(register, `${STEP} INSERT INTO withheld VALUES ('group', 9, '2026-12-01T00:00:00Z');`);
  run(byLists);
  writeFileSync(join(copy, 'api/v1/group/9.json'), '{}');
  rmSync(join(copy, 'index.html'));
  run(whole);
});
