import { type CreatorStory, creatorOf } from './creators.js';
import { type Choices, Dice } from './dice.js';
import { DAY, HOUR } from './events.js';
import { describe, type DescriptionStory, nameOf } from './names.js';
import { idOf, type Register } from './register.js';
import { gaps, special } from './shapes.js';
import type { GameRow, Tables } from './tables.js';
import { before, countedReadings, createdAt, timeText } from './times.js';

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

/** The most visited games, a tie further down, and some games by withheld creators. */
const ONCE: Choices<Partial<Story>> = [
  { visits: 70_001_442_900 },
  { creator: 'withheld user' },
  { visits: 41_903_007 },
  { creator: 'withheld group' },
  { visits: 33_870_194_336, creator: 'withheld user' },
  { visits: 41_903_007 },
  { visits: 18_224_071_509 },
];

const GENRES = [
  'Adventure',
  'Building',
  'Puzzle',
  'Racing',
  'Role play',
  'Sport',
  'Survival',
  'Other',
] as const;

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
  const { first, last, measurements } = countedReadings(dice, register.events);
  const created = before(first, createdAt(register, 'game', index, dice), dice);
  // At most 2^36: even the sum over all games of a large register stays far below 2^53
  const visits = story.visits ?? dice.tail(512, 26);
  const name = nameOf(register, 'game', index);
  tables.insert('games', {
    id: idOf(register, 'game', index),
    root_place_id: dice.once(4) ? 70_000_000_000_000 + dice.below(70_000_000_000_000) : 1 + dice.below(9e9),
    state: story.state,
    name,
    description: describe(story.description, 'game', name, dice),
    ...creatorOf(story.creator, register, dice),
    access: story.access,
    price: story.access === 'paid' ? 25 * (1 + dice.below(40)) : null,
    visits,
    ...audienceOf(story.state, visits, created, last, dice),
    max_players: dice.pick([1, 6, 8, 10, 12, 16, 20, 30, 50, 100]),
    genre: dice.pick(GENRES),
    created_at: timeText(created),
    // Most games are left alone after a while, some are worked on to this day
    updated_at: timeText(
      last - Math.floor((last - created) * (dice.once(3) ? dice.between(0, 0.01) : dice.between(0, 1))),
    ),
    first_measured_at: timeText(first),
    measured_at: timeText(last),
    measurements,
    ...special(UNMEASURED, 'unmeasured', index, dice, UNMEASURED_ONE_IN),
  });
}

type Audience = Pick<GameRow, 'playing' | 'favourites' | 'up_votes' | 'down_votes'>;

/** Share of the usual players in each hour of the day, UTC, in hundredths. */
const BY_HOUR = [
  95, 88, 80, 72, 64, 58, 55, 58, 64, 70, 76, 84, 92, 100, 108, 118, 128, 138, 144, 146, 140, 130, 118, 106,
];

/** Who plays and likes a game, in plausible proportion to its visits. */
function audienceOf(
  state: Story['state'],
  visits: number,
  created: number,
  measured: number,
  dice: Dice,
): Audience {
  const date = new Date(measured * 1000);
  const isWeekend = date.getUTCDay() % 6 === 0;
  const season = ((BY_HOUR[date.getUTCHours()] ?? 100) / 100) * (isWeekend ? 1.35 : 0.9);
  // Its visits per day today, compared to its average: most games are past their best
  const heat = dice.pick([0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9, 1.6, 3]) * dice.between(0.7, 1.4);
  const perDay = (visits / ((measured - created) / DAY + 30)) * heat;
  const stays = dice.between(0.1, 0.7) * HOUR;
  const votes = Math.floor(visits / dice.between(110, 620));
  // 80 to 95 % of the votes are for it, for one game in eight fewer
  const against = votes * (dice.once(8) ? dice.between(0.2, 0.45) : dice.between(0.05, 0.2));
  return {
    playing: state === 'present' ? Math.floor(((perDay * stays) / DAY) * season) : 0,
    favourites: Math.floor(visits / dice.between(45, 400)),
    up_votes: votes - Math.floor(against),
    down_votes: Math.floor(against),
  };
}
