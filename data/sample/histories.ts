/** Histories of names and owners: the values in order, each with the first and last reading that had it. */
import type { Dice } from './dice.js';
import type { Row, Subject } from './records.js';
import { DAY, type Life, timeText } from './times.js';

/** Assigns each value at least one of the readings, in order, and the changes times of their own. */
function runs<T>(values: readonly T[], { first, last, readings }: Life, dice: Dice) {
  const starts = [0];
  for (let at = 1; at < values.length; at++) {
    // Long ago as likely as lately, but after the one before
    const recent = dice.once(3);
    const time = recent ? Math.max(first, last - dice.below(40 * DAY)) : first + dice.below(last - first);
    const least = (starts[at - 1] ?? 0) + 1;
    const next = readings.findIndex((reading) => reading > time);
    starts.push(Math.min(Math.max(next, least), readings.length - values.length + at));
  }
  return values.map((value, at) => ({
    value,
    position: at + 1,
    first: readings[starts[at] ?? 0] ?? first,
    last: readings[(starts[at + 1] ?? readings.length) - 1] ?? last,
  }));
}

/** The owners of a group, oldest first; the last one is current. */
export function ownerHistory({ life, dice }: Subject, owners: readonly Row[]): readonly Row[] {
  return runs(owners, life, dice).map(({ value, position, first, last }) => ({
    ...value,
    position,
    first_measured_at: timeText(first),
    last_measured_at: timeText(last),
  }));
}

/**
 * The names of a record, oldest first; the last one is current.
 * @param column the column of the name
 * @param former the name before this many changes
 */
export function nameHistory(
  { life, dice, name, story }: Subject,
  column: string,
  former: (steps: number) => string,
): readonly Row[] {
  if (story.names === 'unrecorded') return [];
  const changes = { listed: 1 + dice.below(4), dated: 2, changed: 1 + dice.below(2), returned: 0 };
  const steps = story.names === undefined ? 0 : changes[story.names];
  const names = Array.from({ length: steps }, (_, at) => former(steps - at));
  if (story.names === 'returned') names.push(name, former(1));
  const distinct = [...names, name].filter((each, at, all) => each !== all[at - 1]);
  // A list of the platform dates the changes; all names but the current one were seen in it alone
  const listed = story.names === 'listed' ? dice.pick([life.first, life.last]) : undefined;
  let lastSeen = life.created;
  return runs(distinct, life, dice).map(({ value, position, first, last }, at) => {
    const changedAt =
      listed === undefined
        ? lastSeen + 1 + dice.below(first - lastSeen)
        : life.created + Math.floor(((listed - life.created) * at) / distinct.length);
    lastSeen = last;
    const isDated = at > 0 && (story.names === 'dated' || listed !== undefined);
    return {
      position,
      [column]: value,
      changed_at: isDated ? timeText(changedAt) : null,
      first_measured_at: timeText(listed ?? first),
      last_measured_at: timeText(position === distinct.length ? last : (listed ?? last)),
    };
  });
}
