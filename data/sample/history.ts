import type { Dice } from './dice.js';
import { DAY } from './events.js';
import type { NameEntry, Owner, OwnerEntry } from './tables.js';
import { type ReadingTimes, timeText } from './times.js';

/**
 * The history of a name. `changed`: changed between two readings. `returned`: A, B, A. `dated`:
 * dated by the platform. `listed`: several names from the platform's own list. `unrecorded`: none.
 */
export type NameStory = 'kept' | 'changed' | 'returned' | 'dated' | 'listed' | 'unrecorded';

/** The basis of a history of names. */
export interface NameLife {
  readonly story: NameStory;
  readonly name: string;
  /** The name before this many changes. */
  readonly former: (steps: number) => string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** At least three if the name was seen to change. */
  readonly times: ReadingTimes;
}

const NAMES: Readonly<Record<NameStory, (life: NameLife, dice: Dice) => readonly string[]>> = {
  kept: ({ name }) => [name],
  changed: ({ name, former, times }, dice) => [
    ...formers(former, 1 + dice.below(Math.min(3, times.all.length - 1))),
    name,
  ],
  returned: ({ name, former }) => [name, former(1), name],
  dated: ({ name, former }) => [...formers(former, 2), name],
  listed: ({ name, former }, dice) => [...formers(former, 1 + dice.below(4)), name],
  unrecorded: () => [],
};

/** The names of a record, oldest first; the last one is current. */
export function nameHistory(life: NameLife, dice: Dice): readonly NameEntry[] {
  const names = NAMES[life.story](life, dice).filter((name, at, all) => name !== all[at - 1]);
  if (life.story === 'listed') return learnedFromList(names, life, dice);
  let lastSeen = life.createdAt;
  return runs(names, life.times, dice).map(({ value: name, position, first, last }) => {
    const changedAt = lastSeen + 1 + dice.below(first - lastSeen);
    lastSeen = last;
    return {
      position,
      name,
      changed_at: life.story === 'dated' && position > 1 ? timeText(changedAt) : null,
      first_measured_at: timeText(first),
      last_measured_at: timeText(last),
    };
  });
}

/** The owners of a group, oldest first; the last one is current. */
export function ownerHistory(
  owners: readonly Owner[],
  times: ReadingTimes,
  dice: Dice,
): readonly OwnerEntry[] {
  return runs(owners, times, dice).map(({ value: owner, position, first, last }) => ({
    ...owner,
    position,
    first_measured_at: timeText(first),
    last_measured_at: timeText(last),
  }));
}

/** Assigns each value at least one of the readings, in order, and the changes times of their own. */
function runs<T>(values: readonly T[], { first, last, all }: ReadingTimes, dice: Dice) {
  const starts = [0];
  for (let at = 1; at < values.length; at++) {
    // What was first read last: long ago as likely as lately, but after the one before
    const time = dice.once(3)
      ? Math.max(first, last - dice.below(40 * DAY))
      : first + dice.below(last - first);
    const next = all.findIndex((reading) => reading > time);
    const least = (starts[at - 1] ?? 0) + 1;
    starts.push(Math.min(Math.max(next, least), all.length - values.length + at));
  }
  return values.map((value, at) => ({
    value,
    position: at + 1,
    first: all[starts[at] ?? 0] ?? first,
    last: all[(starts[at + 1] ?? all.length) - 1] ?? last,
  }));
}

function formers(former: (steps: number) => string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => former(count - at));
}

/** All names were learned in one reading, and all but the current one were last seen in it. */
function learnedFromList(
  names: readonly string[],
  { createdAt, times }: NameLife,
  dice: Dice,
): readonly NameEntry[] {
  const learned = dice.pick([times.first, times.last]);
  // The list dates the changes, so the first name has no date
  const changedAt = (at: number) => createdAt + Math.floor(((learned - createdAt) * at) / names.length);
  return names.map((name, at) => ({
    position: at + 1,
    name,
    changed_at: at === 0 ? null : timeText(changedAt(at)),
    first_measured_at: timeText(learned),
    last_measured_at: timeText(at === names.length - 1 ? times.last : learned),
  }));
}
