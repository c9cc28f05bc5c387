/** How rclone is called, with a program in its place that notes its arguments. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { site } from '../../../support/site.js';
import { standIn } from '../../../support/stand-in.js';
import { documentsOf, hashesOf, inProcess, temporary } from '../../publish/support.js';

const path = temporary();
const { out } = await site(path);

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
  it('runs rclone once for each sort of headers, and not at all if nothing is new', async () => {
    const notes = replace(TAKES_ALL);
    const to = remote();
    const { code, stdout } = await inProcess('upload', '--out', out, '--to', to, '--json');
    expect(code).toBe(0);
    const documents = documentsOf(hashesOf(out)).length;
    expect(JSON.parse(stdout)).toMatchObject({ remote: to, written: documents, deleted: 0, compared: true });
    const runs = notes().filter((line) => line.startsWith('copy'));
    const headers = runs.map((line) => (line.match(/--header-upload=.*?(?= --)/g) ?? []).join(' '));
    // The index of the changes and snapshot.json come alone.
    expect(new Set(headers).size).toBe(runs.length - 2);
    for (const line of runs) expect(line).toMatch(/(?=.* --no-check-dest ).* --no-traverse /);
    const counts = notes().filter((line) => /^\d+$/.test(line));
    expect(counts.reduce((sum, line) => sum + Number(line), 0)).toBe(documents);
    const nothing = { code: 0, stdout: '', stderr: '' };
    expect(await inProcess('upload', '--out', out, '--to', to, '--quiet')).toEqual(nothing);
    expect(notes().filter((line) => line.startsWith('copy'))).toHaveLength(runs.length);
  });

  it('without rclone ends with 3 and the name of the package', async () => {
    vi.stubEnv('PATH', path('nothing'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const stderr = 'error: rclone is not installed (Debian: apt-get install rclone)\n';
    const ended = await inProcess('upload', '--out', out, '--to', 'some:bucket');
    expect(ended).toEqual({ code: 3, stdout: '', stderr });
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

  it('to a place that is not understood is refused, and the place not quoted', async () => {
    for (const to of ['bucket', ':s3,secret_access_key=hunter2:bucket', '-x:bucket', '/srv/copy']) {
      const { code, stderr } = await inProcess('upload', '--out', out, `--to=${to}`);
      expect([to, code]).toEqual([to, 2]);
      expect(stderr).toMatch(/^error: invalid value of --to, expected NAME:BUCKET\/PREFIX/);
      expect(stderr).not.toContain('hunter2');
    }
  });
});
