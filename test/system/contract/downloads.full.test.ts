/** The bulk downloads as their users get them: from the real generator, through the real proxy. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { snapshot } from '../../support/cli.js';
import { newFolder, temporary } from '../../support/folder.js';
import { has } from '../../support/programs.js';
import { startProxy } from '../../support/proxy.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { pathsBelow } from '../../support/tree.js';

const path = temporary();
const files = (folder: string) => pathsBelow(folder, (entry) => entry.isFile());

const HAS_CURL = has('the recipe for every file', 'curl');
it.skipIf(!HAS_CURL)('README.txt has a recipe that fetches every file', async () => {
  const items = Array.from({ length: 50 }, (_, id) => ({ id: id + 1, name: `item ${id}`, price: 1 }));
  const [register, out] = [writeRegister(path('register.sqlite'), { items }), path('dist')];
  const build = () => snapshot(['build', '--register', register, '--out', out, '--quiet']);
  expect(await build()).toMatchObject({ code: 0 });
  const { base, stop } = await startProxy(out);
  onTestFinished(async () => void (await stop()));
  const readme = readFileSync(join(out, 'downloads/README.txt'), 'utf8');
  const text = readme.replaceAll(/\s+/g, ' ');
  expect(text).toContain('12 downloads at once for each IP address, and one more every minute.');
  expect(text).toContain('A file of less than 4 MiB counts as its share of that,');
  // Small ones cost so little that nobody waits.
  expect(text).toContain('every file, 34 downloads. Run it');
  const [recipe = ''] = /^ {4}curl -f -O \S+SHA256SUMS\n(?: {4}.*\n)+/m.exec(readme) ?? [];
  const [, url = ''] = /(\S+)\/downloads\/SHA256SUMS/.exec(recipe) ?? [];
  const cwd = newFolder(path('files'));
  const fetched = async (): Promise<string[]> => {
    const lines = recipe.replaceAll(url, base).replaceAll('curl ', "curl -sS -w '%{url}\\n' ");
    const { stdout } = await promisify(execFile)('sh', ['-ec', lines], { cwd });
    return stdout.trimEnd().split('\n');
  };
  // The list itself, and what it names.
  expect(await fetched()).toHaveLength(1 + 36);
  expect(files(cwd)).toEqual(files(join(out, 'downloads')));
  expect(await fetched()).toEqual([`${base}/downloads/SHA256SUMS`]);
  changeRegister(register, 'UPDATE items SET price = 2');
  await build();
  let again = await fetched();
  // The proxy notices a new snapshot within a second.
  for (let tries = 0; tries < 50 && again.length === 1; tries += 1) again = await fetched();
  expect(again).toContain(`${base}/downloads/items.csv`);
  expect(again).not.toContain(`${base}/downloads/groups.csv`);
});
