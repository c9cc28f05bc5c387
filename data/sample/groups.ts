import { type Choices, Dice } from './dice.js';
import { type NameStory, nameHistory, ownerHistory } from './history.js';
import { cadenceFor, memberCount, memberReadings, trend } from './members.js';
import { describe, type DescriptionStory, formerGroupName, nameOf } from './names.js';
import { type Reference, someRecord, stranger, withheldRecord } from './references.js';
import { idOf, type Register } from './register.js';
import { gaps, special } from './shapes.js';
import type { GroupRow, Owner, Tables } from './tables.js';
import { createdBefore, readingTimes, timeText } from './times.js';

interface Story {
  readonly state: 'present' | 'locked' | 'deleted';
  readonly names: NameStory;
  readonly owner:
    'kept' | 'unrecorded' | 'changed' | 'abandoned' | 'adopted' | 'none' | 'unnamed' | 'withheld';
  readonly description: DescriptionStory;
  readonly falling: boolean;
  /** A fixed size instead of a random one. */
  readonly members?: number;
  /** `lost`: read earlier, but no longer. `older`: missing from the newest reading. */
  readonly count: 'read' | 'lost' | 'older';
}

const ORDINARY: Story = {
  state: 'present',
  names: 'kept',
  owner: 'kept',
  description: 'some',
  falling: false,
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
  { falling: true },
  { description: 'empty' },
  { description: 'long' },
  { names: 'changed', owner: 'changed' },
  { state: 'locked', owner: 'none', falling: true },
];
const STORY_ONE_IN = 3;

/** The largest groups, with two tied pairs, and some that belong to a withheld user. */
const ONCE: Choices<Partial<Story>> = [
  { members: 280_114_906 },
  { members: 280_114_906 },
  { owner: 'withheld' },
  { members: 279_998_001 },
  { members: 96_500_000 },
  { members: 96_500_000 },
  { owner: 'withheld', members: 8_000_000 },
  { members: 1_250_000, falling: true },
];

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
  const story: Story = { ...ORDINARY, ...twist, ...special(ONCE, 'once', index, dice, 0) };
  const members = story.members ?? memberCount(dice);
  const times = readingTimes(dice, cadenceFor(members), twist === undefined ? 1 : 3);
  const createdAt = createdBefore(times.first, dice);
  const owners = OWNERS[story.owner](register, dice);
  const row: GroupRow = {
    id: idOf(register, 'group', index),
    state: story.state,
    name: nameOf(register, 'group', index),
    description: describe(story.description, dice),
    ...(owners.at(-1) ?? NO_OWNER),
    member_count: story.count === 'lost' ? null : members,
    public_entry: dice.below(2),
    verified: dice.once(50) ? 1 : 0,
    created_at: timeText(createdAt),
    first_measured_at: timeText(times.first),
    measured_at: timeText(times.last),
    measurements: times.all.length,
    ...special(UNMEASURED, 'unmeasured', index, dice, UNMEASURED_ONE_IN),
  };
  tables.insert('groups', row);

  // A value missing now was never measured, except for a counter that was lost
  if (row.member_count !== null || story.count === 'lost') {
    const counted = story.count === 'read' ? times.all : times.all.slice(0, -1);
    for (const reading of memberReadings(members, counted, trend(story.falling, dice), dice)) {
      tables.insert('group_member_readings', { group_id: row.id, ...reading });
    }
  }
  if (row.name !== null) {
    const former = (steps: number) => formerGroupName(register, index, steps);
    const life = { story: story.names, name: row.name, former, createdAt, times };
    for (const entry of nameHistory(life, dice)) tables.insert('group_names', { group_id: row.id, ...entry });
  }
  if (row.owner_state !== null && story.owner !== 'unrecorded') {
    for (const entry of ownerHistory(owners, times)) {
      tables.insert('group_owners', { group_id: row.id, ...entry });
    }
  }
}

/** One in twenty was never measured as a user. */
function owner(register: Register, dice: Dice): Owner {
  return ownedBy(dice.once(20) ? stranger(register, dice) : someRecord(register, 'user', dice));
}

function ownedBy({ id, name }: Reference): Owner {
  return { owner_state: 'owned', owner_id: id, owner_name: name };
}
