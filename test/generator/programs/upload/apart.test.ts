/** No upload goes to where the tree, its state or a register is, however that place is named. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { published } from '../../../support/build.js';
import { has } from '../../../support/programs.js';
import { writeRegister } from '../../../support/register.js';
import { standIn } from '../../../support/stand-in.js';
import { isThorough } from '../../../support/thorough.js';
import { inState } from '../../../support/tree.js';
import { hashesOf, inProcess, temporary } from '../../publish/support.js';

const path = temporary();
const folder = path('site');
const out = join(folder, 'dist');
const state = inState(out);
mkdirSync(join(folder, 'data'), { recursive: true });
await published({
  register: writeRegister(join(folder, 'data/register.sqlite'), { groups: [{ id: 1 }] }),
  out,
});
const link = path('link');
symlinkSync(folder, link);

/** How a folder is named, and what is wrong with it. */
const REFUSED: readonly (readonly [name: string, why: string])[] = [
  [out, `is the tree ("${out}")`],
  [`${out}/`, `is the tree ("${out}")`],
  [`${out}/../dist/.`, `is the tree ("${out}")`],
  [relative('.', out), `is the tree ("${out}")`],
  [join(link, 'dist'), `is the tree ("${out}")`],
  [join(out, 'new/folder'), `lies in the tree ("${out}")`],
  [state, `is the state of the tree ("${state}")`],
  [join(link, '.dist-state/copy'), `lies in the state of the tree ("${state}")`],
  [folder, `holds the tree ("${out}")`],
  ['/', `holds the tree ("${out}")`],
  [join(link, 'data'), 'holds the database "register.sqlite"'],
];

const before = hashesOf(folder);

/** Uploads in vain: the tree and whatever is next to it must stay as it is. */
async function refused(to: string, ...more: readonly string[]): Promise<[number | null, string]> {
  const beside = readdirSync(dirname(folder));
  const { code, stderr } = await inProcess('upload', '--out', out, `--to=${to}`, ...more);
  expect([hashesOf(folder), readdirSync(dirname(folder))]).toEqual([before, beside]);
  return [code, stderr];
}

/** Has rclone say that every remote is a folder, and fail otherwise. */
function say(root: string, isLocal: boolean): void {
  const features = JSON.stringify({ Name: 'some', Root: root, Features: { IsLocal: isLocal } }, undefined, 2);
  standIn(path('bin'), 'rclone', `[ "$1 $2" = "backend features" ] && echo '${features}' || exit 99`);
}

describe('an upload', () => {
  it.each(REFUSED)('to %s is refused, since that %s', async (name, why) => {
    say(resolve(name), true);
    const message: unknown = expect.stringContaining(` of --to ${why}, expected one apart from`);
    for (const options of [[], ['--verify']])
      expect(await refused('some:folder', ...options)).toEqual([2, message]);
  });

  it('to a path of the same name elsewhere is not', async () => {
    say(out, false);
    expect(await refused(`some:${out}`)).toEqual([3, expect.stringContaining('rclone failed with 99')]);
  });
});

const HAS_RCLONE = isThorough && has('uploads by rclone to folders that are refused', 'rclone');

describe.skipIf(!HAS_RCLONE)('an upload by the real rclone', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each(REFUSED)('to %s is refused, since that %s', async (name, why) => {
    vi.stubEnv('RCLONE_CONFIG', '/dev/null');
    vi.stubEnv('RCLONE_CONFIG_HERE_TYPE', 'local');
    vi.stubEnv('RCLONE_CONFIG_ALIAS_TYPE', 'alias');
    vi.stubEnv('RCLONE_CONFIG_ALIAS_REMOTE', 'here:/');
    const absolute = name.startsWith('/') ? name : join(process.cwd(), name);
    for (const to of [`here:${name}`, `alias:${absolute}`])
      expect(await refused(to)).toEqual([2, expect.stringContaining(` of --to ${why}, `)]);
  });
});
