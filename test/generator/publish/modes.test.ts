/** What is published can be read by everyone, whatever the umask; the state by nobody else. */
import { spawn } from 'node:child_process';
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inputs } from '../../support/cli.js';
import { PROJECT } from '../../support/project.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, STEP, site } from '../../support/site.js';
import { some, thorough } from '../../support/thorough.js';
import { inState } from '../../support/tree.js';
import { withFault, type Call } from './faults.js';
import { inProcess, temporary } from './support.js';

const path = temporary();

/** Runs the real command line with a umask. */
function withUmask(umask: string, ...args: readonly string[]): Promise<number | null> {
  const command = [process.execPath, join(PROJECT, 'build/generator/cli.js'), ...args, '--quiet'];
  const script = 'umask "$1" && shift && exec "$@"';
  const child = spawn('sh', ['-c', script, 'sh', umask, ...command], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
}

/** The paths below a folder, and its own, whose mode is not that of a published file or folder. */
const odd = (folder: string): string[] =>
  ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })].flatMap((name) => {
    const found = statSync(join(folder, name));
    const mode = found.mode & 0o777;
    return mode === (found.isDirectory() ? 0o755 : 0o644) ? [] : [`${name} ${mode.toString(8)}`];
  });

describe.each(some(['077', '000'], 1))('with the umask %s', (umask) => {
  const run = (...args: string[]) => withUmask(umask, ...args);

  thorough(
    'every file and folder of a tree is readable, whatever made it, and the state is closed',
    async () => {
      const [register, out] = [writeRegister(path('register.sqlite'), ROWS), path('dist')];
      const build = ['build', '--accept-removals', ...inputs(register, out)];
      expect(await run(...build)).toBe(0);
      expect(odd(out)).toEqual([]);
      changeRegister(register, STEP);
      expect(await run(...build)).toBe(0);
      expect(odd(out)).toEqual([]);
      changeRegister(register, 'UPDATE items SET price = 7 WHERE id = 1');
      expect(await run(...build, '--keep-downloads')).toBe(0);
      expect(odd(out)).toEqual([]);
      for (const part of ['api', 'downloads', 'feeds', 'changes/2.json'])
        rmSync(join(out, part), { recursive: true });
      expect(await run('verify', '--repair', ...inputs(register, out))).toBe(0);
      expect(odd(out)).toEqual([]);
      expect(statSync(inState(out)).mode & 0o777).toBe(0o700);
    },
  );
});

/** A site with something closed to others. */
const closed = async () => {
  const made = await site(path);
  chmodSync(join(made.out, 'api/v1/group/3.json'), 0o640);
  chmodSync(join(made.out, 'api/v1/item'), 0o750);
  chmodSync(join(made.out, 'changes/index.json'), 0o600);
  return made;
};

/** A system that sets no modes. */
const denied = ({ name }: Call): Error | undefined =>
  name === 'chmodSync' ? Object.assign(new Error('EPERM'), { code: 'EPERM' }) : undefined;

describe('what others can’t read of a tree', () => {
  const LINE =
    /^3 files and folders can’t be read by others, such as \S+: expected .*\(--repair sets them\)$/m;

  it('is reported by verify in a line, and opened by --repair', async () => {
    const { register, out } = await closed();
    const first = await inProcess('verify', '--quiet', '--out', out);
    expect([first.code, first.stdout]).toEqual([1, expect.stringMatching(LINE)]);
    const { stdout } = await inProcess('verify', '--json', '--out', out);
    expect(JSON.parse(stdout)).toMatchObject({ damage: [], total: 0, closed: { total: 3 }, repaired: false });
    const repaired = await inProcess('verify', '--repair', '--json', ...inputs(register, out));
    expect(repaired.code).toBe(0);
    expect(JSON.parse(repaired.stdout)).toMatchObject({ damage: [], closed: { total: 3 }, repaired: true });
    expect(odd(out)).toEqual([]);
    expect(await inProcess('verify', '--quiet', '--out', out)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('may be the tree as a whole, which counts if what is in it is closed as well, or a file of others', async () => {
    const made = await site(path);
    const verified = async (): Promise<number | null> =>
      (await inProcess('verify', '--quiet', '--out', made.out)).code;
    writeFileSync(join(made.out, 'notes'), '', { mode: 0o600 });
    chmodSync(made.out, 0o700);
    expect(await verified()).toBe(0);
    chmodSync(join(made.out, 'api/v1/item'), 0o700);
    expect(await verified()).toBe(1);
    const { code, stdout } = await inProcess('verify', '--repair', ...inputs(made.register, made.out));
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/could not be read by others, such as \S+: set to the modes 644 and 755$/m),
    ]);
  });

  it('is not reported on a file system on which modes can’t be set', async () => {
    const { out } = await closed();
    const verified = withFault(denied, () => inProcess('verify', '--json', '--out', out), ['chmodSync']);
    const { code, stdout } = await verified;
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ closed: { total: 0, example: null } }),
    ]);
  });
});
