/**
 * Brings a remote up to the published tree: what changed since the last upload to it, in an order
 * in which nothing names what isn't there yet. The next upload continues an interrupted one.
 */
import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Failure, isInterrupt } from '../errors.js';
import { HashFileWriter, NO_HASH, entriesIn } from '../incremental/hash-file.js';
import type { Entry } from '../incremental/hash-file.js';
import { PatchWriter } from '../incremental/patch.js';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import type { Tree } from '../publish/tree.js';
import { filler } from '../routes/index.js';
import { compare } from './compare.js';
import type { Foreign } from './compare.js';
import { sizeOf } from './goal.js';
import type { Target } from './goal.js';
import { writeHashFile } from './record.js';
import { remoteOf } from './remote.js';
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
  /** Null if nothing was compared. */
  readonly foreign: Foreign | null;
}

/** @throws see `inSession`; Failure environment: a program is missing, or has failed */
export const upload = (tree: Tree, to: string, progress: Progress, connect = remoteOf): Promise<Uploaded> =>
  inSession(tree, to, progress, connect, async (session) => {
    const { manifest, remote, record, targets, wanted } = session;
    const before = record.read();
    if (before?.isOpen === true) {
      // If the command was killed, the program that it ran may not have ended yet.
      progress.start('waiting for the end of an interrupted upload', remote.lingersMs, 'ms');
      await follow(setTimeout(remote.lingersMs), () => 0, progress);
      progress.finish();
    }
    const foreign = before?.isSure === true ? null : await compareAll(session, before !== undefined);
    const headers = Object.fromEntries(
      targets.map((target) => [target.template, JSON.stringify(target.headers)]),
    );
    const isForced = ({ template, isOne }: Target): boolean => {
      const former = before?.headers[template];
      // Of what was there before, the headers are unknown; single files are few, so written again.
      return former === undefined ? isOne && remote.hasHeaders : former !== headers[template];
    };
    const plan = markPending(session, isForced);
    const { puts, deletes, bytes } = plan;
    if (puts + deletes > 0 || foreign !== null || before?.isOpen === true) {
      record.write({ isSure: true, isOpen: true, headers });
      try {
        await transfer(session, plan);
      } catch (error) {
        const isStopped = error instanceof Failure && isInterrupt(error);
        throw isStopped ? error.adding('the next upload continues from here') : error;
      }
      record.write({ isSure: true, isOpen: false, headers });
    }
    return {
      remote: remote.name,
      sequence: manifest.sequence,
      compared: foreign !== null,
      written: puts,
      deleted: deletes,
      unchanged: wanted - puts,
      bytes,
      unknownHeaders: remote.hasHeaders && before === undefined ? wanted - puts : 0,
      foreign,
    };
  });

/** Makes the record from what the remote holds. @param isKnown whether there is one */
async function compareAll(session: Session, isKnown: boolean): Promise<Foreign> {
  const { record, targets } = session;
  const doubtful = new Map(targets.map(({ template }) => [template, new Array<number>()]));
  const doubt = (template: string, key: number): void => {
    const keys = doubtful.get(template);
    if (keys === undefined) doubtful.set(template, [key]);
    else keys.push(key);
  };
  for (const template of record.templates()) {
    // What an interrupted upload had yet to write may have the right content and old headers.
    for (const { key, hash } of isKnown ? entriesIn(record.file(template)) : [])
      if (hash.equals(NO_HASH)) doubt(template, key);
  }
  const foreign = await compare(session, true, (_what, _file, { template, key }) => doubt(template, key));
  for (const [template, keys] of doubtful) {
    const target = targets.find((each) => each.template === template);
    writeHashFile(record.temporary(template), withDoubts(target?.hashFile, keys));
    record.keep(template);
  }
  for (const template of record.templates()) if (!doubtful.has(template)) rmSync(record.file(template));
  return foreign;
}

/** The entries of a hash file, without the hashes of some keys, which it need not have. */
function* withDoubts(hashFile: string | undefined, keys: readonly number[]): Generator<Entry> {
  const doubts = Float64Array.from(new Set(keys)).toSorted();
  let at = 0;
  for (const entry of hashFile === undefined ? [] : entriesIn(hashFile)) {
    for (let key = doubts[at]; key !== undefined && key < entry.key; key = doubts[at]) {
      yield unknown(key);
      at += 1;
    }
    const isDoubtful = doubts[at] === entry.key;
    if (isDoubtful) at += 1;
    yield isDoubtful ? unknown(entry.key) : entry;
  }
  for (const key of doubts.subarray(at)) yield unknown(key);
}

const unknown = (key: number): Entry => ({ key, bytes: 0, hash: NO_HASH });

export interface Plan {
  readonly puts: number;
  readonly deletes: number;
  /** Of the files to write. */
  readonly bytes: number;
}

/**
 * Removes the hashes of all that the upload will touch.
 * @throws Failure invalid: a file to write is missing or damaged
 */
function markPending({ tree, record, targets }: Session, isForced: (target: Target) => boolean): Plan {
  let [puts, deletes, bytes] = [0, 0, 0];
  const byTemplate = new Map(targets.map((target) => [target.template, target]));
  for (const template of new Set([...byTemplate.keys(), ...record.templates()])) {
    const target = byTemplate.get(template);
    const fileOf = filler(template);
    const forced = target !== undefined && isForced(target);
    const writer = new HashFileWriter(record.temporary(template));
    const before = puts + deletes;
    const onGone = ({ key }: Entry): void => {
      writer.add(unknown(key));
      deletes += 1;
    };
    const comparison = new PatchWriter({ old: record.file(template), onGone });
    for (const entry of target === undefined ? [] : entriesIn(target.hashFile)) {
      const isKnown = comparison.put(entry, forced) === 'unchanged';
      writer.add(isKnown ? entry : unknown(entry.key));
      if (isKnown) continue;
      puts += 1;
      bytes += sizeOf(tree, fileOf(entry.key), entry);
    }
    comparison.finish();
    writer.finish();
    if (puts + deletes > before) record.keep(template);
  }
  return { puts, deletes, bytes };
}
