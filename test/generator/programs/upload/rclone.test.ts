/** How rclone is called, with a program in its place that notes its arguments. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { published } from '../../../support/build.js';
import { writeRegister } from '../../../support/register.js';
import { standIn } from '../../../support/stand-in.js';
import { ROWS, documentsOf, hashesOf, inProcess, temporary } from '../../publish/support.js';

const path = temporary();
const out = path('dist');

beforeAll(() => published({ register: writeRegister(path('register.sqlite'), ROWS), out }));

/** Puts a shell script in the place of rclone. @returns the lines that it noted */
function replace(script: string): () => string[] {
  const folder = path('bin');
  const notes = join(folder, 'notes');
  standIn(folder, 'rclone', `NOTES=${notes}\n${script}`);
  return () => (existsSync(notes) ? readFileSync(notes, 'utf8').trimEnd().split('\n') : []);
}

/** An rclone that knows an empty remote and takes everything. */
const COMBINED = `for each in "$@"; do case "$each" in --combined=*) COMBINED="\${each#*=}";; esac; done`;
const TAKES_ALL = `${COMBINED}
case "$1" in check) cd ${out} && find . -type f | sed 's,^./,+ ,' > "$COMBINED"; exit 1;;
*) echo "$@" >> $NOTES; for each in "$@"; do case "$each" in --files-from-raw=*) wc -l < "\${each#*=}" >> $NOTES;; esac; done;; esac`;

let remotes = 0;
const remote = (): string => `some:bucket${(remotes += 1)}`;

describe('upload', () => {
  it('runs rclone once for each sort of headers, and takes no header from a file name', async () => {
    const notes = replace(TAKES_ALL);
    const to = remote();
    const { code, stdout } = await inProcess('upload', '--out', out, '--to', to, '--json');
    expect(code).toBe(0);
    const documents = documentsOf(hashesOf(out)).length;
    expect(JSON.parse(stdout)).toMatchObject({ remote: to, written: documents, deleted: 0, compared: true });
    const runs = notes().filter((line) => line.startsWith('copy'));
    const headers = runs.map((line) => (line.match(/--header-upload=.*?(?= --)/g) ?? []).join(' '));
    expect(headers).toContain(
      '--header-upload=Content-Type: application/json; charset=utf-8 ' +
        '--header-upload=Cache-Control: public, max-age=300, stale-while-revalidate=600, stale-if-error=86400',
    );
    expect(headers.some((line) => line.includes('Content-Disposition: attachment; filename="groups-'))).toBe(
      true,
    );
    // The index of the changes and snapshot.json come alone.
    expect(new Set(headers).size).toBe(runs.length - 2);
    expect(runs.every((line) => line.includes(' --no-check-dest ') && line.includes(' --no-traverse '))).toBe(
      true,
    );
    const counts = notes().filter((line) => /^\d+$/.test(line));
    expect(counts.reduce((sum, line) => sum + Number(line), 0)).toBe(documents);
    expect(counts.slice(-2)).toEqual(['1', '1']);
    expect(await inProcess('upload', '--out', out, '--to', to, '--quiet')).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect(notes().filter((line) => line.startsWith('copy'))).toHaveLength(runs.length);
  });

  it('without rclone ends with 3 and the name of the package', async () => {
    vi.stubEnv('PATH', path('nothing'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const { code, stderr } = await inProcess('upload', '--out', out, '--to', 'some:bucket');
    expect(code).toBe(3);
    expect(stderr).toBe('error: rclone is not installed (Debian: apt-get install rclone)\n');
  });

  it('that fails quotes the last lines of the program, without credentials, and continues', async () => {
    const to = remote();
    const fails = `${TAKES_ALL}
      [ "$1" = check ] || { grep -q . $NOTES && [ $(grep -c ^copy $NOTES) -gt 3 ] && {
      echo '{"level":"error","msg":"Put \\"https://AKIA:pw@s3.example/b/x?X-Amz-Credential=AKIA\\": secret_access_key = hunter2, denied","object":"x"}' >&2
      exit 5; }; }; exit 0`;
    const notes = replace(fails);
    const { code, stderr } = await inProcess('upload', '--out', out, '--to', to);
    expect(code).toBe(3);
    expect(stderr).toBe(
      `error: rclone failed with 5 while writing files (${to}); the next upload continues from here\n` +
        '  x: Put "https://s3.example/b/x": secret_access_key = …, denied\n',
    );
    const first = notes().filter((line) => /^\d+$/.test(line));
    const rest = replace(TAKES_ALL);
    const { stdout } = await inProcess('upload', '--out', out, '--to', to, '--json');
    // It gives up after three failures.
    expect(first.length).toBe(6);
    expect(JSON.parse(stdout)).toMatchObject({ compared: true, unchanged: 0 });
    expect(rest().length).toBeGreaterThan(0);
  });

  it('of which only a part can be compared ends with 3', async () => {
    replace(`${COMBINED}\necho '= snapshot.json' > "$COMBINED"; exit 1`);
    const { code, stderr } = await inProcess('upload', '--out', out, '--to', remote());
    expect(code).toBe(3);
    expect(stderr).toMatch(/was compared in part: rclone reported 1 of \d+ files/);
  });

  it('compares contents where some files have no checksums there', async () => {
    const compares = `${COMBINED}
      [ "$1" = check ] || exit 0
      echo "$@" >> $NOTES
      cd ${out} && find . -type f | sed 's,^./,= ,' > "$COMBINED"
      case "$*" in
        *--download*) sed -i 's,^= snapshot.json,* snapshot.json,' "$COMBINED"; exit 1;;
        *) echo '{"level":"warning","msg":"3 hashes could not be checked"}' >&2;;
      esac`;
    const notes = replace(compares);
    const { code, stdout } = await inProcess('upload', '--out', out, '--to', remote(), '--verify', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ different: ['snapshot.json'] });
    expect(notes().map((line) => line.includes(' --download '))).toEqual([false, true]);
  });

  it.each(['bucket', ':s3,secret_access_key=hunter2:bucket', '-x:bucket', '/srv/copy'])(
    'to %j is not understood, and not quoted',
    async (to) => {
      const { code, stderr } = await inProcess('upload', '--out', out, `--to=${to}`);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^error: invalid value of --to, expected NAME:BUCKET\/PREFIX/);
      expect(stderr).not.toContain('hunter2');
    },
  );
});
