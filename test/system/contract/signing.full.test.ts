/** What docs/operating.md says of signing: its commands, and what a client then knows of a record. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../deploy/run.js';
import { PROJECT, newFolder, temporary } from '../../support/folder.js';
import { has } from '../../support/programs.js';
import { digestOf, snapshotOf, mirrorOf, sha256 } from '../../support/published.js';
import { sampleTree } from './sample-tree.js';

const path = temporary();

it.runIf(has('signing', 'minisign'))('a signature of snapshot.json is of every record', async () => {
  const folder = newFolder(path('signed'));
  cpSync(await sampleTree(), join(folder, 'dist'), { recursive: true });
  const page = readFileSync(join(PROJECT, 'docs/operating.md'), 'utf8');
  const [, commands = ''] = /## Signing\n[^]*?```sh\n([^]*?)```/.exec(page) ?? [];
  const signed = await run(['sh', '-ec', `cd ${folder}\n${commands}`]);
  expect([signed.code, signed.output]).toEqual([0, expect.stringContaining('verified')]);

  const out = join(folder, 'dist');
  const copy = mirrorOf(out);
  const { digest, routes } = snapshotOf(out);
  const url = [...copy.keys()].find((each) => each.startsWith('/api/v1/group/')) ?? '';
  expect(digestOf(copy, routes)).toBe(digest);
  expect(digestOf(new Map(copy).set(url, sha256('another')), routes)).not.toBe(digest);

  const file = join(out, 'snapshot.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace(digest, sha256('another')));
  const verification = commands.trimEnd().split('\n').at(-1);
  expect((await run(['sh', '-ec', `cd ${folder}\n${verification}`])).code).toBe(1);
});
