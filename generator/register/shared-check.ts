/** The check of a register, shared out among threads. */
import type { Job } from '../jobs.js';
import { follow } from '../progress.js';
import { isObject } from '../threads/messages.js';
import type { Pool } from '../threads/pool.js';
import type { Say } from '../threads/serve.js';
import { newTurns, performed } from '../threads/turns.js';
import type { Turns } from '../threads/turns.js';
import { steps, take } from './check.js';
import type { Found, Look } from './check.js';
import type { Register } from './open.js';
import type { Scope } from './sql.js';

/** Has threads take the steps. Those of the scope `changed` must have been told what that is. */
export const lookIn =
  (pool: Pool<Job>): Look =>
  async (scope, progress) => {
    let done = 0;
    const answers = pool.share({ do: 'check', scope, turns: newTurns() }, () => (done += 1));
    const looked = await follow(answers, () => done, progress);
    return new Map(looked.flatMap(asLooked));
  };

/** Takes those steps that are this thread's, and says so after each. */
export function lookFor(
  register: Register,
  { scope, turns }: { readonly scope: Scope; readonly turns: Turns },
  say: Say,
): readonly (readonly [number, Found])[] {
  return performed(turns, [...steps(scope).entries()], ([index, step]) => {
    const found = take(register, step);
    say({ step: index });
    return [index, found];
  });
}

/** @throws TypeError: a defect of ours */
function asLooked(value: unknown): readonly (readonly [number, Found])[] {
  if (Array.isArray(value) && value.every(isLooked)) return value;
  throw new TypeError('not what a check comes to');
}

const isLooked = (value: unknown): value is readonly [number, Found] =>
  Array.isArray(value) && typeof value[0] === 'number' && isObject(value[1]) && 'findings' in value[1];
