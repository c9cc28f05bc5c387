/** The remotes of rclone's configuration: object storage, SFTP, WebDAV, folders of this machine. */
import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { Failure } from '../../base/errors.js';
import { parseJson } from '../../base/portable.js';
import type { Progress } from '../../base/progress.js';
import type { Headers } from '../../routes/headers.js';
import { fileAbove, type Connect, type Remote, type RemoteState } from './remote.js';
import { LINGERS_MS, STATISTICS_SECONDS, failed, run } from './run.js';

/** The log is read here, so variables of the user's such as RCLONE_VERBOSE must not change it. */
const LOGGED = [
  '--use-json-log',
  '--verbose=0',
  '--quiet=false',
  '--log-level=NOTICE',
  '--stats-log-level=NOTICE',
  `--stats=${STATISTICS_SECONDS}s`,
];

/** An exit code. */
const NO_SUCH_FOLDER = 3;

const statistics = z.looseObject({ checks: z.int(), transfers: z.int(), deletes: z.int() });
type Statistics = z.infer<typeof statistics>;

/** A line of its log. */
const message = z.object({
  level: z.string(),
  msg: z.string(),
  object: z.string().exactOptional(),
  stats: statistics.exactOptional(),
});

/** What `rclone backend features` says of a remote. */
const features = z.looseObject({ Root: z.string(), Features: z.looseObject({ IsLocal: z.boolean() }) });

/** @returns undefined if rclone does not say; what is wrong with the remote is reported once it is used */
async function featuresOf(remote: string, progress: Progress) {
  let text = '';
  const onOutput = (line: string): void => void (text += line);
  await run(['backend', 'features', ...LOGGED, '--', remote], { progress, onOutput });
  return features.safeParse(parseJson(text)).data;
}

/** What `rclone check` says if it compared files by their sizes alone. */
const UNSURE = /no common hash|hash(es)? could not be checked/i;

/** The marks of `rclone check --combined`; `!` is a file that could not be compared. */
const MARKS: Readonly<Record<string, RemoteState>> = {
  '=': 'same',
  '+': 'missing',
  '*': 'different',
  '!': 'different',
  '-': 'extra',
};

/** @see Connect; the argument is a remote of rclone's configuration, with a path */
export const connectRclone: Connect = (text, out, scratch) => {
  if (/^\w[\w.+@ -]*:[^\r\n]*$/.test(text)) return new Rclone(text, out, scratch);
  // The remote is not quoted: a connection string of rclone's may hold a password.
  throw Failure.usage(
    'invalid value of --to, expected NAME:BUCKET/PREFIX, where NAME is a remote of the configuration of rclone',
  );
};

class Rclone implements Remote {
  readonly lingersMs = LINGERS_MS;
  readonly name: string;
  readonly #out: string;
  readonly #list: string;

  constructor(name: string, out: string, scratch: string) {
    this.name = name;
    this.#out = out;
    this.#list = join(scratch, 'list');
  }

  /** Also of an alias. Others that wrap a folder (crypt, union) are not seen. */
  async localFolder(progress: Progress): Promise<string | undefined> {
    // Without a path, no storage is asked.
    const isLocal = (await featuresOf(this.name.replace(/:.*/s, ':'), progress))?.Features.IsLocal === true;
    return isLocal ? (await featuresOf(this.name, progress))?.Root : undefined;
  }

  async put(files: readonly string[], headers: Headers, progress: Progress): Promise<void> {
    const each = Object.entries(headers).map(([name, value]) => `--header-upload=${name}: ${value}`);
    // Known to differ: a look at each object first would double the requests.
    const args = ['copy', '--no-check-dest', ...each, ...this.#only(files), '--', this.#out, this.name];
    await this.#run('writing files', args, progress);
  }

  async delete(files: readonly string[], progress: Progress): Promise<void> {
    await this.#run('deleting files', ['delete', ...this.#only(files), '--', this.name], progress);
    // Storage that has folders would not take a file in place of an empty one.
    const folders = new Set(files.flatMap((file) => fileAbove(this.#out, file) ?? []));
    for (const folder of folders) {
      const args = ['rmdirs', ...LOGGED, '--', `${this.name}${/[:/]$/.test(this.name) ? '' : '/'}${folder}`];
      await this.#run('deleting folders', args, progress, [NO_SUCH_FOLDER]);
    }
  }

  async compare(found: (what: RemoteState, file: string) => void, progress: Progress): Promise<void> {
    const first = await this.#check([], progress);
    const { ended } = first.isUnsure ? await this.#check(['--download'], progress) : first;
    let lines = 0;
    for await (const line of createInterface({ input: createReadStream(this.#list) })) {
      const what = MARKS[line.charAt(0)];
      if (what === undefined) continue;
      lines += 1;
      found(what, line.slice(2));
    }
    // 1 stands for differences, but also for a remote that can't be listed: then nothing is compared.
    if (ended.code > 1 || (ended.code === 1 && lines === 0)) throw failed(ended, 'comparing', this.name);
  }

  /** One listing of everything: by default a folder is a request, and each group has one. */
  #check(options: readonly string[], progress: Progress) {
    writeFileSync(this.#list, '');
    const args = ['check', '--fast-list', ...options, `--combined=${this.#list}`, ...LOGGED];
    return watch([...args, '--', this.#out, this.name], progress);
  }

  #only(files: readonly string[]): readonly string[] {
    writeFileSync(this.#list, files.map((file) => `${file}\n`).join(''));
    // Looks up the named files only, instead of listing their folders.
    return [...LOGGED, '--no-traverse', `--files-from-raw=${this.#list}`];
  }

  async #run(
    step: string,
    args: readonly string[],
    progress: Progress,
    harmless: readonly number[] = [],
  ): Promise<void> {
    const { ended } = await watch(args, progress);
    if (ended.code !== 0 && !harmless.includes(ended.code)) throw failed(ended, step, this.name);
  }
}

/** Waits for rclone to end. @returns also whether it compared some files by size alone */
async function watch(args: readonly string[], progress: Progress) {
  let [done, isUnsure] = [0, false];
  const ended = await run(args, {
    progress,
    onMessage: (line) => {
      const { text, stats } = read(line);
      if (stats !== undefined) done = stats.transfers + stats.deletes || stats.checks;
      isUnsure ||= text !== undefined && UNSURE.test(text);
      return text;
    },
    done: () => done,
  });
  return { ended, isUnsure };
}

/** What a line of the log says, and how far the work is. */
function read(line: string): { readonly text?: string; readonly stats?: Statistics } {
  const value = parseJson(line);
  if (value === undefined) return { text: line };
  const { msg, object, stats, level } = message.safeParse(value).data ?? {};
  if (stats !== undefined) return { stats };
  if (msg === undefined || level === 'info' || level === 'debug') return {};
  return { text: object === undefined ? msg : `${object}: ${msg}` };
}
