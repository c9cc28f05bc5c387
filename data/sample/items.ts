import { type CreatorStory, creatorOf } from './creators.js';
import { type Choices, Dice } from './dice.js';
import { describe, itemTypeOf, nameOf } from './names.js';
import { idOf, type Register } from './register.js';
import { gaps, special } from './shapes.js';
import type { ItemRow, Price, Resale, Tables } from './tables.js';
import { countedReadings, createdBefore, timeText } from './times.js';

interface Story {
  readonly state: 'present' | 'deleted';
  readonly creator: CreatorStory;
  readonly sale: 'priced' | 'free' | 'unlisted' | 'limited';
  /** A fixed lowest resale price for a limited item, instead of a random one. */
  readonly resale?: number;
}

const ORDINARY: Story = { state: 'present', creator: 'usual', sale: 'priced' };

const STORIES: Choices<Partial<Story>> = [
  { state: 'deleted', sale: 'unlisted' },
  { sale: 'free' },
  { sale: 'unlisted' },
  { sale: 'limited' },
  { creator: 'unnamed' },
  { creator: 'unknown' },
];
const STORY_ONE_IN = 2;

const PRICES: Readonly<Record<Story['sale'], (dice: Dice) => Price>> = {
  priced: (dice) => ({ price_state: 'priced', price: 5 * (1 + dice.tail(8, 9)), off_sale: 0 }),
  free: () => ({ price_state: 'free', price: 0, off_sale: 0 }),
  unlisted: () => ({ price_state: 'unlisted', price: null, off_sale: 1 }),
  // Sold out by its creator: only its owners sell it
  limited: (dice) => ({ price_state: 'unlisted', price: null, off_sale: dice.below(2) }),
};

/** The highest resale prices, two of them tied, and some items by withheld creators. */
const ONCE: Choices<Partial<Story>> = [
  { sale: 'limited', resale: 1_000_000_000_000 },
  { creator: 'withheld user' },
  { sale: 'limited', resale: 1_000_000_000_000 },
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
  const { first, last, measurements } = countedReadings(dice);
  const createdAt = createdBefore(first, dice);
  tables.insert('items', {
    id: idOf(register, 'item', index),
    state: story.state,
    name: nameOf(register, 'item', index),
    description: describe('some', dice),
    asset_type_id,
    asset_type,
    ...creatorOf(story.creator, register, dice),
    ...PRICES[story.sale](dice),
    ...resaleOf(story, dice),
    favourites: dice.tail(4, 18),
    created_at: timeText(createdAt),
    updated_at: timeText(createdAt + dice.below(last - createdAt)),
    first_measured_at: timeText(first),
    measured_at: timeText(last),
    measurements,
    ...special(UNMEASURED, 'unmeasured', index, dice, UNMEASURED_ONE_IN),
  });
}

/** Only limited items are resold, and not all of those are on sale at the moment. */
function resaleOf({ sale, resale }: Story, dice: Dice): Resale {
  if (sale !== 'limited') {
    return {
      limited: 0,
      lowest_resale_price: null,
      recent_average_price: null,
      quantity_total: null,
      quantity_remaining: null,
    };
  }
  const quantity = 1 + dice.tail(50, 12);
  const price = resale ?? 20 + dice.tail(100, 30);
  return {
    limited: 1,
    lowest_resale_price: resale === undefined && dice.once(5) ? null : price,
    recent_average_price: Math.floor((price * (6 + dice.below(4))) / 10),
    quantity_total: quantity,
    quantity_remaining: dice.once(2) ? 0 : dice.below(quantity),
  };
}
