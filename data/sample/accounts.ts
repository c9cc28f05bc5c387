/** Groups and users, with histories of members, names and owners. */
import { growthOf, memberCounts } from './growth.js';
import { nameHistory, ownerHistory } from './histories.js';
import * as names from './names.js';
import { gaps, type Row, type Subject, type Writer } from './records.js';
import { famousAt } from './stories.js';
import { describe } from './texts.js';
import { timeText } from './times.js';

const NO_OWNER: Row = { owner_state: 'none', owner_id: null, owner_name: null };

function ownedBy({ id, name }: names.Reference): Row {
  return { owner_state: 'owned', owner_id: id, owner_name: name };
}

/** A group's owners, oldest first; the last one is current. */
function ownersOf({ register, dice, story }: Subject): readonly Row[] {
  const user = () => ownedBy(names.someRecord(register, 'user', dice));
  // One in twenty was never measured as a user
  const isStranger = dice.once(20) || story.owner === 'changed';
  const owner = isStranger ? ownedBy(names.stranger(register, dice)) : user();
  const owners = {
    kept: () => [owner],
    changed: () => [owner, user()],
    abandoned: () => [owner, NO_OWNER],
    adopted: () => [owner, NO_OWNER, user()],
    none: () => [NO_OWNER],
    unnamed: () => [{ ...owner, owner_name: null }],
    withheld: () => [ownedBy(names.withheldRecord(register, 'user'))],
  };
  return owners[story.owner ?? 'kept']();
}

/** When members were counted, and how many there were, oldest first. */
function countsOf({ register, index, dice, story, size, life }: Subject): readonly Row[] {
  const times = story.count === undefined ? life.readings : life.readings.slice(0, -1);
  const famous = famousAt(index);
  const purges = register.events.purges.filter((_, at) =>
    // Other groups lose bots if they are not small, some of them each time
    famous === undefined ? size >= 1_000 && dice.once(6) : at < (famous.purges ?? 0),
  );
  const growth = growthOf(dice, life.created, purges, story.course);
  const counts = memberCounts(size, times, growth, dice);
  return times.map((time, at) => ({ measured_at: timeText(time), member_count: counts[at] ?? size }));
}

export const GROUP: Writer = {
  kind: 'group',
  hidden: 'locked',
  unmeasured: gaps(`
    state | name | description | owner_state owner_id owner_name | member_count | public_entry | verified |
    created_at`),
  write(subject) {
    const { register, index, dice, story, name, size } = subject;
    const owners = ownersOf(subject);
    const columns = {
      name,
      description: describe(story.description, 'group', name, dice),
      ...owners.at(-1),
      member_count: story.count === 'lost' ? null : size,
      public_entry: dice.below(2),
      verified: dice.once(50) ? 1 : 0,
    };
    const former = (steps: number) => names.formerGroupName(register, index, steps);
    return {
      columns,
      // What was not measured never was, except for a counter that was lost
      histories: (isMeasured) => ({
        group_member_readings: isMeasured('member_count') ? countsOf(subject) : [],
        group_names: isMeasured('name') ? nameHistory(subject, 'name', former) : [],
        group_owners:
          isMeasured('owner_id') && story.names !== 'unrecorded' ? ownerHistory(subject, owners) : [],
      }),
    };
  },
};

export const USER: Writer = {
  kind: 'user',
  hidden: 'banned',
  unmeasured: gaps('state | username | display_name | verified | created_at'),
  write(subject) {
    const { register, index, dice, name: username } = subject;
    const display_name = names.displayNameOf(register, index);
    const former = (steps: number) => names.formerUsername(register, index, steps);
    return {
      columns: { username, display_name, verified: dice.once(200) ? 1 : 0 },
      histories: (isMeasured) => ({
        usernames: isMeasured('username') ? nameHistory(subject, 'username', former) : [],
      }),
    };
  },
};
