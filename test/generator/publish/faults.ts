/**
 * A file system that fails on demand, in this process: every call of node:fs that changes something is counted, and
 * any of them can be made to fail. Death by SIGKILL and a full disk can so be tried at every single place.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';

/** A folder may need another block for a name that a rename gives. */
const GROWING = ['writeFileSync', 'writeSync', 'mkdirSync', 'linkSync', 'renameSync'] as const;
const OTHERS = ['unlinkSync', 'rmdirSync', 'rmSync', 'fsyncSync', 'chmodSync', 'openSync'] as const;

export interface Call {
  readonly name: string;
  readonly number: number;
  readonly path: string;
  readonly grows: boolean;
}

/** What a call throws instead of being done; undefined lets it be done. Calls that it makes itself don't count. */
export type Fault = (call: Call) => Error | undefined;

/** A folder that is there already, or another file of a name, needs no room. */
const isMade = (name: string, [path, target]: readonly unknown[]): boolean =>
  (name === 'mkdirSync' && fs.existsSync(String(path))) ||
  (name === 'renameSync' && fs.existsSync(String(target)));

export async function withFault<T>(fault: Fault, work: () => Promise<T>): Promise<T> {
  let number = 0;
  let isWithin = false;
  const originals: [string, unknown][] = [];
  for (const name of [...GROWING, ...OTHERS]) {
    const original: unknown = Reflect.get(fs, name);
    if (typeof original !== 'function') throw new TypeError(`no ${name}`);
    originals.push([name, original]);
    Reflect.set(fs, name, (...args: unknown[]): unknown => {
      const opensForReading = name === 'openSync' && (args[1] === undefined || args[1] === 'r');
      if (!opensForReading && !isWithin) {
        number += 1;
        const grows =
          (name === 'openSync' || GROWING.some((growing) => growing === name)) && !isMade(name, args);
        isWithin = true;
        try {
          const error = fault({ name, number, path: String(args[0]), grows });
          if (error !== undefined) throw error;
        } finally {
          isWithin = false;
        }
      }
      const result: unknown = Reflect.apply(original, fs, args);
      return result;
    });
  }
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    for (const [name, original] of originals) Reflect.set(fs, name, original);
    syncBuiltinESMExports();
  }
}

export async function callsOf(work: () => Promise<unknown>): Promise<Call[]> {
  const calls: Call[] = [];
  await withFault((call) => void calls.push(call), work);
  return calls;
}

/** Many builds, on a machine that may have much else to do: 600000 ms (= 10 minutes). */
export const SWEEP = { timeout: 600_000 };

/** The note of who holds the lock, for messages alone. */
const ofTheLock = ({ path }: Call): boolean => path.endsWith('lock.pid');

export class Killed extends Error {
  override readonly name = 'Killed';
}

/** Does work that may die of a fault, and only of that. */
export async function survive(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}

export const failed = (code: string, { name, path }: Call): Error =>
  Object.assign(new Error(`${code}: ${name} '${path}'`), { code });

/** From this call on nothing is done any more, as if the process were dead. */
export const deadFrom =
  (number: number): Fault =>
  (call) =>
    call.number >= number && !ofTheLock(call) ? new Killed(`dead since call ${number}`) : undefined;

/** From this call on the disk takes nothing more; to delete and to replace files still works. */
export const fullFrom =
  (number: number): Fault =>
  (call) =>
    call.number >= number && call.grows ? failed('ENOSPC', call) : undefined;

/** All that is below a folder lies in a lower layer of an overlay: of what is there, no folder can be renamed. */
export function lowerLayer(root: string): Fault {
  const found = fs.readdirSync(root, { recursive: true, withFileTypes: true });
  const fixed = new Set(
    found.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name)),
  );
  return (call) => {
    // A new folder lies in the upper layer, whatever was in its place.
    if (call.name === 'mkdirSync')
      for (let made = call.path; !fs.existsSync(made); made = dirname(made)) fixed.delete(made);
    return call.name === 'renameSync' && fixed.has(call.path) ? failed('EXDEV', call) : undefined;
  };
}
