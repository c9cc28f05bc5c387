/** A folder here or on another machine, through rsync. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Failure } from '../errors.js';
import type { Progress } from '../progress.js';
import type { Headers } from '../routes/headers.js';
import { isFolder } from './in-the-way.js';
import type { RemoteState, Remote } from './remote.js';
import { LINGERS_MS, failed, run, type Ended } from './run.js';

/** Written without a buffer, so that an rsync whose parent was killed notices it. */
const STATISTICS = ['--info=progress2', '--outbuf=N'];

/** `>fcst...... api/v1/stats.json`: what happens, of which 12 attributes, to which file. */
const ITEM = /^(?<item>\*deleting {2}|[<>ch.]f\S{9}) (?<file>.*[^/])$/s;

/** Security updates of 2026 broke `--delete-missing-args` for a while (RsyncProject/rsync#910). */
const UPDATE =
  '\nThis version of rsync, here or there, can’t delete, so withheld records stay: install the newest update of rsync';

export class Rsync implements Remote {
  readonly hasHeaders = false;
  readonly lingersMs = LINGERS_MS;
  readonly name: string;
  readonly #destination: string;
  readonly #out: string;
  readonly #list: string;
  readonly #skeleton: string;

  constructor(name: string, destination: string, out: string, scratch: string) {
    this.name = name;
    // `host:` is the home folder there, `host:/` the root.
    this.#destination = /[:/]$/.test(destination) ? destination : `${destination}/`;
    this.#out = out;
    this.#list = join(scratch, 'list');
    this.#skeleton = join(scratch, 'skeleton');
  }

  /** A colon before any slash stands for another machine, as for rsync itself. */
  async localFolder(): Promise<string | undefined> {
    return /^[^/]*:/.test(this.#destination) ? undefined : resolve(this.#destination);
  }

  async put(files: readonly string[], _headers: Headers, progress: Progress): Promise<void> {
    await this.#run('writing files', ['-a', '--ignore-times'], files, this.#out, progress);
  }

  /** Also deletes the folders that the tree no longer has, if they are empty. */
  async delete(files: readonly string[], progress: Progress): Promise<void> {
    for (let gone = files; gone.length > 0;) {
      // It deletes what is missing in a source that has the folders of it.
      rmSync(this.#skeleton, { recursive: true, force: true });
      const folders = [...new Set(gone.map((file) => dirname(file)))];
      for (const folder of ['.', ...folders]) mkdirSync(join(this.#skeleton, folder), { recursive: true });
      const args = ['-r', '--delete-missing-args'];
      await this.#run('deleting files', args, gone, this.#skeleton, progress);
      gone = folders.filter((folder) => folder !== '.' && isFolder(join(this.#out, folder)) !== true);
    }
    rmSync(this.#skeleton, { recursive: true, force: true });
    // rsync counts what it transfers, not what it deletes.
    await progress.advance(files.length);
  }

  /** Reports no files that are the same. */
  async compare(found: (what: RemoteState, file: string) => void, progress: Progress): Promise<void> {
    const onOutput = (line: string): void => {
      const { item = '', file = '' } = ITEM.exec(line)?.groups ?? {};
      if (item.startsWith('*')) found('extra', file);
      else if (/^[<>]f\+/.test(item)) found('missing', file);
      else if (/^[<>ch]/.test(item) || item.charAt(4) === 't') found('different', file);
    };
    const args = ['-anc8', '--delete', '--out-format=%i %n', '--', `${this.#out}/`, this.#destination];
    const { code, lastLines } = await run('rsync', args, { progress, onOutput });
    if (code !== 0) throw this.#failed({ code, lastLines }, 'comparing');
  }

  async #run(
    step: string,
    options: readonly string[],
    files: readonly string[],
    source: string,
    progress: Progress,
  ): Promise<void> {
    writeFileSync(this.#list, files.map((file) => `${file}\0`).join(''));
    let done = 0;
    const onOutput = (line: string): void => {
      done = Number(/\(xfr#(\d+)/.exec(line)?.[1] ?? done);
    };
    const args = [...options, ...STATISTICS, '--from0', `--files-from=${this.#list}`];
    const { code, lastLines } = await run('rsync', [...args, '--', `${source}/`, this.#destination], {
      progress,
      onOutput,
      done: () => done,
    });
    if (code !== 0) throw this.#failed({ code, lastLines }, step);
  }

  #failed({ code, lastLines }: Ended, step: string): Failure {
    const hint = lastLines.includes('invalid file mode') ? UPDATE : '';
    return failed('rsync', { code, lastLines: lastLines + hint }, step, this.name);
  }
}
