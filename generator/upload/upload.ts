/**
 * Brings a remote up to the published tree: what changed since the last upload to it, in an order
 * in which nothing names what isn't there yet. The next upload continues an interrupted one.
 */
import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Failure, isInterrupt } from '../errors.js';
import { HashFileWriter, NO_HASH, entriesIn } from '../incremental/hash-file.js';
import type { Entry } from '../incremental/hash-file.js';
import { PatchWriter } from '../incremental/patch.js';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import type { Tree } from '../publish/tree.js';
import { filler } from '../routes/index.js';
import { compare, writeKnown } from './compare.js';
import type { Foreign } from './compare.js';
import { goalLocator, hashFileOf, sizeOf, templateOf } from './goal.js';
import type { Target } from './goal.js';
import type { Description } from './record.js';
import { remoteOf } from './remote.js';
import type { Connect } from './remote.js';
import { inSession } from './session.js';
import type { Session } from './session.js';
import { transfer } from './transfer.js';

export interface Uploaded {
  readonly remote: string;
  readonly sequence: number;
  /** Whether the whole remote was compared, since it was not known what it holds. */
  readonly compared: boolean;
  /** Numbers of files. */
  readonly written: number;
  readonly deleted: number;
  readonly unchanged: number;
  /** The size of the written files. */
  readonly bytes: number;
  /** How many files were there with the right content, but perhaps with other headers. */
  readonly unknownHeaders: number;
  /** Files there that no route leads to; null if nothing was compared. */
  readonly foreign: Foreign | null;
}

/** @throws see `inSession`; Failure environment: a program is missing, or has failed */
export const upload = (
  tree: Tree,
  to: string,
  progress: Progress,
  connect: Connect = remoteOf,
): Promise<Uploaded> =>
  inSession(tree, to, progress, connect, async (session) => {
    const { manifest, remote, record, goal, wanted } = session;
    const before = record.read();
    const settled = before && (await settle(session, before));
    const compared = before?.isSure === true ? undefined : await compareAll(session, settled);
    const headers = Object.fromEntries(
      goal.targets.map((target) => [target.template, JSON.stringify(target.headers)]),
    );
    const isForced = ({ template, isOne }: Target): boolean => {
      const former = before?.headers[template];
      // Of what was there before, the headers are unknown; single files are few, so written again.
      return former === undefined ? isOne && remote.hasHeaders : former !== headers[template];
    };
    const plan = markPending(session, compared?.known ?? settled ?? record.known, isForced);
    const { puts, deletes, bytes } = plan;
    if (puts + deletes > 0 || before?.isSure !== true || before.goal !== undefined) {
      const description = { isSure: true, headers, known: plan.sums, goal: goal.sums };
      record.replace(description);
      try {
        await transfer(session, Object.keys(plan.sums), plan);
      } catch (error) {
        const isStopped = error instanceof Failure && isInterrupt(error);
        throw isStopped ? error.adding('the next upload continues from here') : error;
      }
      record.complete(description);
    }
    return {
      remote: remote.name,
      sequence: manifest.sequence,
      compared: compared !== undefined,
      written: puts,
      deleted: deletes,
      unchanged: wanted - puts,
      bytes,
      unknownHeaders: remote.hasHeaders && before === undefined ? wanted - puts : 0,
      foreign: compared?.foreign ?? null,
    };
  });

/** @returns the folder of what is known after an upload that was perhaps interrupted */
async function settle({ remote, record, progress }: Session, before: Description): Promise<string> {
  if (before.goal !== undefined) {
    // If the command was killed, the program that it ran may not have ended yet.
    progress.start('waiting for the end of an interrupted upload', remote.lingersMs, 'ms');
    await follow(setTimeout(remote.lingersMs), () => 0, progress);
    progress.finish();
  }
  return record.settle(before);
}

/**
 * Finds out what a remote holds.
 * @param settled what was known of it, if anything
 */
async function compareAll(
  { manifest, remote, record, goal, wanted, progress }: Session,
  settled: string | undefined,
): Promise<{ readonly known: string; readonly foreign: Foreign }> {
  const { goal: folder, compared } = record.next;
  const doubtful = new Map<string, number[]>();
  const doubt = (template: string, key: number): void => {
    const keys = doubtful.get(template);
    if (keys === undefined) doubtful.set(template, [key]);
    else keys.push(key);
  };
  // Files that an interrupted upload had yet to write may have the right content and old headers.
  for (const template of settled === undefined ? [] : templatesIn(settled))
    for (const { key, hash } of entriesIn(hashFileOf(settled ?? '', template)))
      if (hash.equals(NO_HASH)) doubt(template, key);
  const foreign = await compare(
    remote,
    { isStrict: true, wanted },
    goalLocator(folder, goal, manifest.routes),
    (_what, _file, { template, key }) => doubt(template, key),
    progress,
  );
  const templates = goal.targets.map(({ template }) => template);
  writeKnown(compared, folder, templates, doubtful);
  return { known: compared, foreign };
}

const templatesIn = (folder: string): readonly string[] => readdirSync(folder).map(templateOf);

export interface Plan {
  readonly puts: number;
  readonly deletes: number;
  /** Of the files to write. */
  readonly bytes: number;
}

/**
 * Writes the next record, in which all that the upload will touch has lost its hash.
 * @param known the folder of what is known
 * @throws Failure invalid: a file to write is missing or damaged
 */
function markPending(
  { tree, record, goal }: Session,
  known: string,
  isForced: (target: Target) => boolean,
): Plan & { readonly sums: Readonly<Record<string, string>> } {
  const { goal: folder, known: next } = record.next;
  const sums: Record<string, string> = {};
  let [puts, deletes, bytes] = [0, 0, 0];
  const mark = (writer: HashFileWriter, { key }: Entry): void => writer.add({ key, bytes: 0, hash: NO_HASH });
  for (const target of goal.targets) {
    const { template } = target;
    const fileOf = filler(template);
    const forced = isForced(target);
    const writer = new HashFileWriter(hashFileOf(next, template));
    const onGone = (entry: Entry): void => {
      mark(writer, entry);
      deletes += 1;
    };
    const comparison = new PatchWriter({ old: hashFileOf(known, template), onGone });
    for (const entry of entriesIn(hashFileOf(folder, template))) {
      if (comparison.put(entry, forced) === 'unchanged') writer.add(entry);
      else {
        mark(writer, entry);
        puts += 1;
        bytes += sizeOf(tree, fileOf(entry.key), entry);
      }
    }
    comparison.finish();
    sums[template] = writer.finish();
  }
  for (const template of templatesIn(known).filter((found) => sums[found] === undefined)) {
    const writer = new HashFileWriter(hashFileOf(next, template));
    for (const entry of entriesIn(hashFileOf(known, template))) {
      mark(writer, entry);
      deletes += 1;
    }
    sums[template] = writer.finish();
  }
  return { puts, deletes, bytes, sums };
}
