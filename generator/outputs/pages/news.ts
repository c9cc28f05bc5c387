/** What is news in a register, in words. */
import type { Measured } from '../../schema/measured.js';

/** Of what there are changes and new records: `names`, `owners`, `records`. */
export const newsOf = (measured: Measured): readonly string[] => [
  ...(measured.hasAny(['group_names', 'usernames']) ? ['names'] : []),
  ...(measured.has('group_owners') ? ['owners'] : []),
  ...(measured.hasAny(['games', 'items']) ? ['records'] : []),
];
