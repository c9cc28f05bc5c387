import { type Choices, Dice } from './dice.js';
import { type NameStory, nameHistory, ownerHistory } from './history.js';
import { type Famous, famousAt } from './famous.js';
import { type Course, growthOf } from './growth.js';
import { cadenceFor, memberCount, memberReadings, purgesOf, someCourse } from './members.js';
import { describe, type DescriptionStory, formerGroupName, nameOf } from './names.js';
import { type Reference, someRecord, stranger, withheldRecord } from './references.js';
import { idOf, type Register } from './register.js';
import { gaps, special } from './shapes.js';
import type { GroupRow, Owner, Tables } from './tables.js';
import { before, createdAt, readingTimes, timeText } from './times.js';

interface Story {
  readonly state: 'present' | 'locked' | 'deleted';
  readonly names: NameStory;
  readonly owner:
    'kept' | 'unrecorded' | 'changed' | 'abandoned' | 'adopted' | 'none' | 'unnamed' | 'withheld';
  readonly description: DescriptionStory;
  /** A course instead of a random one. */
  readonly course?: Course;
  /** `lost`: read earlier, but no longer. `older`: missing from the newest reading. */
  readonly count: 'read' | 'lost' | 'older';
}

const ORDINARY: Story = {
  state: 'present',
  names: 'kept',
  owner: 'kept',
  description: 'some',
  count: 'read',
};

const STORIES: Choices<Partial<Story>> = [
  { names: 'changed' },
  { names: 'returned' },
  { names: 'dated' },
  { names: 'listed' },
  { names: 'unrecorded', owner: 'unrecorded' },
  { owner: 'changed' },
  { owner: 'abandoned' },
  { owner: 'adopted' },
  { owner: 'none' },
  { owner: 'unnamed' },
  { state: 'locked' },
  { state: 'deleted', owner: 'none' },
  { state: 'deleted', count: 'lost' },
  { count: 'older' },
  { course: 'abandoned' },
  { description: 'empty' },
  { description: 'long' },
  { names: 'changed', owner: 'changed' },
  { state: 'locked', owner: 'none', course: 'abandoned' },
];
const STORY_ONE_IN = 3;

const NO_OWNER: Owner = { owner_state: 'none', owner_id: null, owner_name: null };

/** A group's owners, oldest first; the last one is current. */
const OWNERS: Readonly<Record<Story['owner'], (register: Register, dice: Dice) => readonly Owner[]>> = {
  kept: (register, dice) => [owner(register, dice)],
  unrecorded: (register, dice) => [owner(register, dice)],
  changed: (register, dice) => [
    ownedBy(stranger(register, dice)),
    ownedBy(someRecord(register, 'user', dice)),
  ],
  abandoned: (register, dice) => [owner(register, dice), NO_OWNER],
  adopted: (register, dice) => [owner(register, dice), NO_OWNER, owner(register, dice)],
  none: () => [NO_OWNER],
  unnamed: (register, dice) => [{ ...owner(register, dice), owner_name: null }],
  withheld: (register) => [ownedBy(withheldRecord(register, 'user'))],
};

const UNMEASURED = gaps<GroupRow>(
  { state: null },
  { name: null },
  { description: null },
  { ...NO_OWNER, owner_state: null },
  { member_count: null },
  { public_entry: null },
  { verified: null },
  { created_at: null },
);
const UNMEASURED_ONE_IN = 15;

/** Writes a group with its member readings, names and owners. */
export function writeGroup(register: Register, index: number, tables: Tables): void {
  const dice = new Dice(register.seed, 'group', index);
  const twist = special(STORIES, 'story', index, dice, STORY_ONE_IN);
  const famous = famousAt(index);
  const story: Story = { ...ORDINARY, ...twist, ...famous };
  const members = famous === undefined ? memberCount(dice) : sizeOf(famous, dice);
  const born = createdAt(register, 'group', index, dice);
  const atLeast = famous?.readings ?? (twist === undefined && famous === undefined ? 1 : 3);
  const times = readingTimes(dice, cadenceFor(members), register.events, { atLeast, notBefore: born });
  const created = before(times.first, born, dice);
  const name = nameOf(register, 'group', index);
  const owners = OWNERS[story.owner](register, dice);
  const row: GroupRow = {
    id: idOf(register, 'group', index),
    state: story.state,
    name,
    description: describe(story.description, 'group', name, dice),
    ...(owners.at(-1) ?? NO_OWNER),
    member_count: story.count === 'lost' ? null : members,
    public_entry: dice.below(2),
    verified: dice.once(50) ? 1 : 0,
    created_at: timeText(created),
    first_measured_at: timeText(times.first),
    measured_at: timeText(times.last),
    measurements: times.all.length,
    ...special(UNMEASURED, 'unmeasured', index, dice, UNMEASURED_ONE_IN),
  };
  tables.insert('groups', row);

  // A value missing now was never measured, except for a counter that was lost
  if (row.member_count !== null || story.count === 'lost') {
    const counted = story.count === 'read' ? times.all : times.all.slice(0, -1);
    const { purges } = register.events;
    const hit = famous === undefined ? purgesOf(purges, members, dice) : purges.slice(0, famous.purges ?? 0);
    const growth = growthOf(story.course ?? someCourse(dice), created, hit, dice);
    for (const reading of memberReadings(members, counted, growth, dice)) {
      tables.insert('group_member_readings', { group_id: row.id, ...reading });
    }
  }
  if (row.name !== null) {
    const former = (steps: number) => formerGroupName(register, index, steps);
    const life = { story: story.names, name: row.name, former, createdAt: created, times };
    for (const entry of nameHistory(life, dice)) tables.insert('group_names', { group_id: row.id, ...entry });
  }
  if (row.owner_state !== null && story.owner !== 'unrecorded') {
    for (const entry of ownerHistory(owners, times, dice)) {
      tables.insert('group_owners', { group_id: row.id, ...entry });
    }
  }
}

function sizeOf({ members, isExact }: Famous, dice: Dice): number {
  return isExact === true ? members : members + dice.below(Math.ceil(members / 33));
}

/** One in twenty was never measured as a user. */
function owner(register: Register, dice: Dice): Owner {
  return ownedBy(dice.once(20) ? stranger(register, dice) : someRecord(register, 'user', dice));
}

function ownedBy({ id, name }: Reference): Owner {
  return { owner_state: 'owned', owner_id: id, owner_name: name };
}
