import { type CreatorStory, creatorOf } from './creators.js';
import { type Choices, Dice } from './dice.js';
import { describe, itemTypeOf, nameOf } from './names.js';
import { idOf, type Register } from './register.js';
import { gaps, special } from './shapes.js';
import type { ItemRow, Price, Resale, Tables } from './tables.js';
import { before, countedReadings, createdAt, timeText } from './times.js';

interface Story {
  readonly state: 'present' | 'deleted';
  readonly creator: CreatorStory;
  /** `limited`: sold out by its creator. `limited on sale`: not yet. */
  readonly sale: 'priced' | 'free' | 'unlisted' | 'limited' | 'limited on sale';
  /** A fixed lowest resale price for a limited item, instead of a random one. */
  readonly resale?: number;
}

const ORDINARY: Story = { state: 'present', creator: 'usual', sale: 'priced' };

const STORIES: Choices<Partial<Story>> = [
  { state: 'deleted', sale: 'unlisted' },
  { sale: 'free' },
  { sale: 'unlisted' },
  { sale: 'limited' },
  { sale: 'limited on sale' },
  { creator: 'unnamed' },
  { creator: 'unknown' },
];
const STORY_ONE_IN = 2;

/** What creators ask, the usual first. */
const USUAL: Choices<number> = [
  5, 5, 10, 15, 25, 30, 45, 50, 50, 60, 70, 75, 75, 80, 90, 100, 100, 120, 125, 150,
];
const DEAR: Choices<number> = [
  199, 200, 250, 300, 349, 350, 400, 499, 500, 650, 750, 999, 1_000, 1_500, 2_000, 2_500, 5_000, 10_000,
];

const askedPrice = (dice: Dice): number => dice.pick(dice.once(4) ? DEAR : USUAL);

const PRICES: Readonly<Record<Story['sale'], (dice: Dice) => Price>> = {
  priced: (dice) => ({ price_state: 'priced', price: askedPrice(dice), off_sale: 0 }),
  free: () => ({ price_state: 'free', price: 0, off_sale: 0 }),
  unlisted: () => ({ price_state: 'unlisted', price: null, off_sale: 1 }),
  // Only its owners sell it
  limited: (dice) => ({ price_state: 'unlisted', price: null, off_sale: dice.below(2) }),
  'limited on sale': (dice) => ({ price_state: 'priced', price: askedPrice(dice), off_sale: 0 }),
};

/** The highest resale prices that the platform allows, and some items by withheld creators. */
const ONCE: Choices<Partial<Story>> = [
  { sale: 'limited', resale: 1_000_000_000_000 },
  { creator: 'withheld user' },
  { sale: 'limited', resale: 999_999_999_999 },
  { creator: 'withheld group' },
  { sale: 'limited', resale: 63_000_000_000, creator: 'withheld user' },
];

const UNMEASURED = gaps<ItemRow>(
  { state: null },
  { name: null },
  { description: null },
  { asset_type_id: null, asset_type: null },
  { asset_type: null },
  { creator_type: null },
  { creator_type: null, creator_id: null, creator_name: null },
  { price_state: null, price: null },
  { price: null },
  { off_sale: null },
  { limited: null, lowest_resale_price: null, recent_average_price: null },
  { quantity_total: null, quantity_remaining: null },
  { favourites: null },
  { created_at: null },
  { updated_at: null },
);
const UNMEASURED_ONE_IN = 12;

export function writeItem(register: Register, index: number, tables: Tables): void {
  const dice = new Dice(register.seed, 'item', index);
  const story: Story = {
    ...ORDINARY,
    ...special(STORIES, 'story', index, dice, STORY_ONE_IN),
    ...special(ONCE, 'once', index, dice, 0),
  };
  const { id: asset_type_id, type: asset_type } = itemTypeOf(register, index);
  const { first, last, measurements } = countedReadings(dice, register.events);
  const created = before(first, createdAt(register, 'item', index, dice), dice);
  const name = nameOf(register, 'item', index);
  const price = PRICES[story.sale](dice);
  tables.insert('items', {
    id: idOf(register, 'item', index),
    state: story.state,
    name,
    description: describe('some', 'item', name, dice),
    asset_type_id,
    asset_type,
    ...creatorOf(story.creator, register, dice),
    ...price,
    ...resaleOf(story, dice),
    favourites: dice.tail(4, 18),
    created_at: timeText(created),
    updated_at: timeText(dice.once(2) ? created : created + dice.below(last - created)),
    first_measured_at: timeText(first),
    measured_at: timeText(last),
    measurements,
    ...special(UNMEASURED, 'unmeasured', index, dice, UNMEASURED_ONE_IN),
  });
}

const UNLIMITED: Resale = {
  limited: 0,
  lowest_resale_price: null,
  recent_average_price: null,
  quantity_total: null,
  quantity_remaining: null,
};

/** How many of a limited item its creator makes. */
const QUANTITIES: Choices<number> = [
  10, 25, 50, 100, 100, 150, 200, 250, 500, 500, 750, 1_000, 2_000, 2_500, 5_000, 10_000, 25_000,
];

/** Only limited items that are sold out are resold: the rarer, the dearer. Some nobody offers. */
function resaleOf({ sale, resale }: Story, dice: Dice): Resale {
  if (sale !== 'limited' && sale !== 'limited on sale') return UNLIMITED;
  const quantity = dice.once(3) ? 1 + dice.tail(50, 9) : dice.pick(QUANTITIES);
  if (sale === 'limited on sale') {
    const remaining = 1 + dice.below(quantity);
    return { ...UNLIMITED, limited: 1, quantity_total: quantity, quantity_remaining: remaining };
  }
  const usual = Math.floor((40 + dice.tail(60, 24)) * (1 + 2_000 / (quantity + 20)));
  // The cheapest offer is near what was paid of late, a little above as a rule
  const lowest = resale ?? Math.floor(usual * dice.between(0.85, 1.6));
  return {
    limited: 1,
    lowest_resale_price: resale === undefined && dice.once(6) ? null : lowest,
    recent_average_price: resale === undefined ? usual : Math.floor(resale * dice.between(0.0004, 0.3)),
    quantity_total: quantity,
    quantity_remaining: 0,
  };
}
