/** What the threads of a build work with. */
import { onTestFinished } from 'vitest';
import type { Context } from '../../../generator/register/context.js';
import { Register } from '../../../generator/register/database.js';
import { markWithheld } from '../../../generator/register/overview.js';

/** Opens a register for a test; `steps` are those that were reported. */
export function contextOf(file: string, notMeasured: readonly string[] = []): Context & { steps: number } {
  const register = Register.open(file, notMeasured);
  onTestFinished(() => register.close());
  markWithheld(register);
  const context = { register, steps: 0, advance: (steps: number) => void (context.steps += steps) };
  return context;
}
