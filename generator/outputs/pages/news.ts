/** What is news in a register, in words. */
import type { Measured } from '../../schema/measured.js';

/** Of what feeds announce changes: `names`, `owners`. */
export const changesIn = (measured: Measured): readonly string[] => [
  ...(measured.hasAny(['group_names', 'usernames']) ? ['names'] : []),
  ...(measured.has('group_owners') ? ['owners'] : []),
];

/** Of which kinds feeds announce new records: `games`, `items`. */
export const arrivalsIn = (measured: Measured): readonly string[] =>
  ['games', 'items'].filter((plural) => measured.has(`${plural}.first_measured_at`));
