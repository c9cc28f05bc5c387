/** Values as tests compare them, none of them `any`. */
import { expect } from 'vitest';

export const containing = (text: string): unknown => expect.stringContaining(text);

export const matching = (form: RegExp): unknown => expect.stringMatching(form);

/** The members of what must be an object. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new TypeError(`no object: ${JSON.stringify(value)}`);
  return { ...value };
}
