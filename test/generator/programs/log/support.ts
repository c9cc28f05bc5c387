/** Logs on the disk, damages to them, and what is said of them. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../../../../generator/base/errors.js';
import { append, type Appended } from '../../../../generator/programs/log/log-files.js';
import { rootOf } from './naive.js';

/** Appends an entry to a log on the disk. */
export function grow(folder: string, size: number, entry: string | Uint8Array): Appended {
  const appended = append(folder, size, Buffer.from(entry));
  for (const [file, bytes] of appended.files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), bytes);
  }
  for (const file of appended.removed) rmSync(join(folder, file));
  return appended;
}

/** A log of these entries on the disk. @returns the roots of all sizes from 0 on */
export function makeLog(folder: string, entries: readonly string[]): Buffer[] {
  mkdirSync(folder, { recursive: true });
  return [rootOf([]), ...entries.map((entry, size) => grow(folder, size, entry).root)];
}

/** Copies with one bit flipped, for each bit. */
export function* flips(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
      yield { at, bit, flipped };
    }
  }
}

/** Collects what is wrong. An `expect` for each of a million comparisons takes longer than they do. */
export class Comparisons {
  readonly wrong: string[] = [];

  add(isRight: boolean, what: string): void {
    if (!isRight) this.wrong.push(what);
  }
}

/** The message of the Failure invalid that a call throws, or undefined. */
export function refusal(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof Failure && error.exitCode === 1 && !error.message.includes('\n'))
      return error.message;
    throw error;
  }
}
