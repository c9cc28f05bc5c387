import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

import { OPEN_FLAGS, stateOf, type FileState } from './files.js';

/**
 * Reading published files while everything else waits. Four trips to Node's threads cost 90 us of a request
 * (measured), much more than reading a small file that the system has in memory; pace.ts says when it is right.
 */

export interface FileNow {
  readonly state: FileState;
  readonly bytes: Buffer;
}

/**
 * A whole file. Undefined if there is none, if it is larger than that, or if anything is wrong with it: who reads
 * it the other way finds out what.
 */
export function readFileNow(path: string, maximumBytes: number): FileNow | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, OPEN_FLAGS);
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > maximumBytes) return undefined;
    const state = stateOf(stats);
    // One byte more than there should be, to find one that grows. Not from Buffer's pool: see readAll.
    const buffer = Buffer.allocUnsafeSlow(state.size + 1);
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    return length === state.size ? { state, bytes: buffer.subarray(0, length) } : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The state of the file at this path; undefined if there is none, or it can't be told. */
export function lookAtNow(path: string): FileState | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats && stateOf(stats);
  } catch {
    return undefined;
  }
}
