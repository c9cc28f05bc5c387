/** The first member of each list. */
import { value } from '../parts.js';

export const AS_OF = value(
  'as_of',
  'time',
  '2026-11-20T08:00:00Z',
  'Time of the newest measurement in the register; null if it is empty.',
  { nullable: true },
);
