import { type CreatorStory, creatorOf } from './creators.js';
import { type Choices, Dice } from './dice.js';
import { describe, type DescriptionStory, nameOf } from './names.js';
import { idOf, type Register } from './register.js';
import { gaps, special } from './shapes.js';
import type { GameRow, Tables } from './tables.js';
import { countedReadings, createdBefore, timeText } from './times.js';
import { GENRES } from './words.js';

interface Story {
  readonly state: 'present' | 'restricted' | 'deleted';
  readonly creator: CreatorStory;
  readonly description: DescriptionStory;
  readonly access: 'free' | 'paid';
  /** A fixed number instead of a random one. */
  readonly visits?: number;
}

const ORDINARY: Story = { state: 'present', creator: 'usual', description: 'some', access: 'free' };

const STORIES: Choices<Partial<Story>> = [
  { state: 'restricted' },
  { state: 'deleted' },
  { access: 'paid' },
  { creator: 'unnamed' },
  { creator: 'unknown' },
  { description: 'empty' },
  { description: 'long' },
];
const STORY_ONE_IN = 4;

/** The most visited games, two of them tied, and some by withheld creators. */
const ONCE: Choices<Partial<Story>> = [
  { visits: 70_001_442_900 },
  { creator: 'withheld user' },
  { visits: 70_001_442_900 },
  { creator: 'withheld group' },
  { visits: 41_903_000_007, creator: 'withheld user' },
];

const UNMEASURED = gaps<GameRow>(
  { root_place_id: null },
  { state: null },
  { name: null },
  { description: null },
  { creator_type: null },
  { creator_type: null, creator_id: null, creator_name: null },
  { access: null, price: null },
  { playing: null },
  { visits: null },
  { favourites: null },
  { up_votes: null, down_votes: null },
  { max_players: null },
  { genre: null },
  { created_at: null },
  { updated_at: null },
);
const UNMEASURED_ONE_IN = 12;

export function writeGame(register: Register, index: number, tables: Tables): void {
  const dice = new Dice(register.seed, 'game', index);
  const story: Story = {
    ...ORDINARY,
    ...special(STORIES, 'story', index, dice, STORY_ONE_IN),
    ...special(ONCE, 'once', index, dice, 0),
  };
  const { first, last, measurements } = countedReadings(dice);
  const createdAt = createdBefore(first, dice);
  // At most 2^36: even the sum over all games of a large register stays far below 2^53
  const visits = story.visits ?? dice.tail(512, 26);
  const votes = Math.floor(visits / (90 + dice.below(500)));
  tables.insert('games', {
    id: idOf(register, 'game', index),
    root_place_id: dice.once(4) ? 70_000_000_000_000 + dice.below(70_000_000_000_000) : 1 + dice.below(9e9),
    state: story.state,
    name: nameOf(register, 'game', index),
    description: describe(story.description, dice),
    ...creatorOf(story.creator, register, dice),
    access: story.access,
    price: story.access === 'paid' ? 25 * (1 + dice.below(40)) : null,
    playing: Math.floor(visits / (20_000 + dice.below(60_000))),
    visits,
    favourites: Math.floor(visits / (40 + dice.below(400))),
    up_votes: votes,
    down_votes: Math.floor((votes * dice.below(60)) / 100),
    max_players: dice.pick([1, 6, 8, 10, 12, 16, 20, 30, 50, 100]),
    genre: dice.pick(GENRES),
    created_at: timeText(createdAt),
    updated_at: timeText(createdAt + dice.below(last - createdAt)),
    first_measured_at: timeText(first),
    measured_at: timeText(last),
    measurements,
    ...special(UNMEASURED, 'unmeasured', index, dice, UNMEASURED_ONE_IN),
  });
}
