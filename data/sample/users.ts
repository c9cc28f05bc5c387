import { type Choices, Dice } from './dice.js';
import { type NameStory, nameHistory } from './history.js';
import { displayNameOf, formerUsername, nameOf } from './names.js';
import { idOf, type Register } from './register.js';
import { gaps, special } from './shapes.js';
import type { Tables, UserRow } from './tables.js';
import { before, createdAt, readingTimes, SELDOM_CADENCE, timeText } from './times.js';

interface Story {
  readonly state: 'present' | 'banned' | 'deleted';
  readonly names: NameStory;
}

const ORDINARY: Story = { state: 'present', names: 'kept' };

const STORIES: Choices<Partial<Story>> = [
  { names: 'changed' },
  { names: 'returned' },
  { names: 'dated' },
  { names: 'listed' },
  { names: 'unrecorded' },
  { state: 'banned' },
  { state: 'deleted' },
  { state: 'banned', names: 'listed' },
];
const STORY_ONE_IN = 4;

const UNMEASURED = gaps<UserRow>(
  { state: null },
  { username: null },
  { display_name: null },
  { verified: null },
  { created_at: null },
);
const UNMEASURED_ONE_IN = 12;

/** Writes a user with their usernames. */
export function writeUser(register: Register, index: number, tables: Tables): void {
  const dice = new Dice(register.seed, 'user', index);
  const twist = special(STORIES, 'story', index, dice, STORY_ONE_IN);
  const story: Story = { ...ORDINARY, ...twist };
  const born = createdAt(register, 'user', index, dice);
  const atLeast = twist === undefined ? 1 : 3;
  const times = readingTimes(dice, SELDOM_CADENCE, register.events, { atLeast, notBefore: born });
  const created = before(times.first, born, dice);
  const row: UserRow = {
    id: idOf(register, 'user', index),
    state: story.state,
    username: nameOf(register, 'user', index),
    display_name: displayNameOf(register, index),
    verified: dice.once(200) ? 1 : 0,
    created_at: timeText(created),
    first_measured_at: timeText(times.first),
    measured_at: timeText(times.last),
    measurements: times.all.length,
    ...special(UNMEASURED, 'unmeasured', index, dice, UNMEASURED_ONE_IN),
  };
  tables.insert('users', row);

  if (row.username !== null) {
    const former = (steps: number) => formerUsername(register, index, steps);
    const life = { story: story.names, name: row.username, former, createdAt: created, times };
    for (const { name: username, ...entry } of nameHistory(life, dice)) {
      tables.insert('usernames', { user_id: row.id, username, ...entry });
    }
  }
}
