/**
 * Brings a remote up to the published tree: what changed since the last upload to it, in an order
 * in which nothing names what isn't there yet. The next upload continues an interrupted one.
 */
import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Failure, isInterrupt } from '../errors.js';
import { entriesIn } from '../tree/hash-file.js';
import { follow } from '../progress.js';
import type { Progress } from '../progress.js';
import type { Tree } from '../tree/tree.js';
import { filler } from '../routes/index.js';
import { compare } from './compare.js';
import type { Untracked } from './compare.js';
import { sizeOf } from './desired-files.js';
import type { RouteFiles } from './desired-files.js';
import { differences, isUnknown, unknown } from './record.js';
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
  readonly untracked: Untracked | null;
}

/** @throws see `inSession`; Failure environment: a program is missing, or has failed */
export const upload = (tree: Tree, to: string, progress: Progress, connect = remoteOf): Promise<Uploaded> =>
  inSession(tree, to, progress, connect, async (session) => {
    const { manifest, remote, record, desired, total } = session;
    const before = record.read();
    if (before?.isInterrupted === true) {
      // If the command was killed, the program that it ran may not have ended yet.
      progress.start('waiting for the end of an interrupted upload', remote.lingersMs, 'ms');
      await follow(setTimeout(remote.lingersMs), () => 0, progress);
      progress.finish();
    }
    const untracked = before?.isTrusted === true ? null : await compareAll(session, before !== undefined);
    const headers = Object.fromEntries(
      desired.map((files) => [files.template, JSON.stringify(files.headers)]),
    );
    const isForced = ({ template, isSingle }: RouteFiles): boolean => {
      const former = before?.headers[template];
      // Of what was there before, the headers are unknown; single files are few, so written again.
      return former === undefined ? isSingle && remote.hasHeaders : former !== headers[template];
    };
    const plan = markPending(session, isForced);
    const { puts, deletes, bytes } = plan;
    if (puts + deletes > 0 || untracked !== null || before?.isInterrupted === true) {
      record.write({ isTrusted: true, isInterrupted: true, headers });
      try {
        await transfer(session, plan);
      } catch (error) {
        const isStopped = error instanceof Failure && isInterrupt(error);
        throw isStopped ? error.adding('the next upload continues from here') : error;
      }
      record.write({ isTrusted: true, isInterrupted: false, headers });
    }
    return {
      remote: remote.name,
      sequence: manifest.sequence,
      compared: untracked !== null,
      written: puts,
      deleted: deletes,
      unchanged: total - puts,
      bytes,
      unknownHeaders: remote.hasHeaders && before === undefined ? total - puts : 0,
      untracked,
    };
  });

/** Makes the record from what the remote holds. @param isKnown whether there is one */
async function compareAll(session: Session, isKnown: boolean): Promise<Untracked> {
  const { record, desired } = session;
  const hashFiles = new Map(desired.map(({ template, hashFile }) => [template, hashFile]));
  const unknownKeys = new Map(desired.map(({ template }) => [template, new Array<number>()]));
  const addUnknown = (template: string, key: number): void => {
    const keys = unknownKeys.get(template);
    if (keys === undefined) unknownKeys.set(template, [key]);
    else keys.push(key);
  };
  for (const template of record.templates()) {
    // What an interrupted upload had yet to write may have the right content and old headers.
    for (const entry of isKnown ? entriesIn(record.file(template)) : [])
      if (isUnknown(entry)) addUnknown(template, entry.key);
  }
  const untracked = await compare(session, (_what, _file, { template, key }) => addUnknown(template, key));
  for (const [template, keys] of unknownKeys)
    record.update(template, hashFiles.get(template), unknown(Float64Array.from(new Set(keys)).toSorted()));
  for (const template of record.templates()) if (!unknownKeys.has(template)) rmSync(record.file(template));
  return untracked;
}

export interface Plan {
  readonly puts: number;
  readonly deletes: number;
  /** Of the files to write. */
  readonly bytes: number;
}

/**
 * Makes all entries unknown whose files the upload will write or delete.
 * @throws Failure invalid: a file to write is missing or damaged
 */
function markPending({ tree, record, desired }: Session, isForced: (files: RouteFiles) => boolean): Plan {
  let [puts, deletes, bytes] = [0, 0, 0];
  const routes = new Map(desired.map((files) => [files.template, files]));
  for (const template of new Set([...routes.keys(), ...record.templates()])) {
    const files = routes.get(template);
    const fileOf = filler(template);
    const keys: number[] = [];
    const all = differences(record.file(template), files?.hashFile, files && isForced(files));
    for (const { key, desired: entry } of all) {
      keys.push(key);
      if (entry === undefined) {
        deletes += 1;
      } else {
        puts += 1;
        bytes += sizeOf(tree, fileOf(key), entry, files?.coding);
      }
    }
    if (keys.length > 0) record.update(template, record.file(template), unknown(keys));
  }
  return { puts, deletes, bytes };
}
