/** Games and items: what users and groups made. */
import { ITEM_TYPES, someRecord, withheldRecord } from './names.js';
import { gaps, type Row, type Subject, type Writer } from './records.js';
import { describe } from './texts.js';
import { DAY, timeText } from './times.js';
import { choices } from './words.js';

/** The creator's columns: three in five are users, the others groups. */
function creatorOf({ register, dice, story: { creator } }: Subject): Row {
  if (creator === 'unknown') return { creator_type: null, creator_id: null, creator_name: null };
  const withheld = creator === 'withheld user' ? 'user' : creator === 'withheld group' ? 'group' : undefined;
  const type = withheld ?? (dice.below(5) < 3 ? 'user' : 'group');
  const { id, name } = withheld ? withheldRecord(register, type) : someRecord(register, type, dice);
  return { creator_type: type, creator_id: id, creator_name: creator === 'unnamed' ? null : name };
}

/** Most are left alone after a while, some are worked on to this day. */
function updatedAt({ dice, life: { created, last } }: Subject): string {
  return timeText(last - Math.floor((last - created) * dice.between(0, dice.once(3) ? 0.01 : 1)));
}

/** Visits, and who plays and likes it in plausible proportion to them. */
function audienceOf({ dice, story, size, life }: Subject): Row {
  const visits = story.visits ?? 512 * size + dice.below(512);
  // Its visits per day today, compared to its average: most games are past their best
  const heat = dice.pick([0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9, 1.6, 3]) * dice.between(0.7, 1.4);
  const perDay = (visits / ((life.last - life.created) / DAY + 30)) * heat;
  const votes = Math.floor(visits / dice.between(110, 620));
  const against = Math.floor(votes * (dice.once(8) ? dice.between(0.2, 0.45) : dice.between(0.05, 0.2)));
  return {
    visits,
    playing: story.state === undefined ? Math.floor(perDay * dice.between(0.004, 0.03)) : 0,
    favourites: Math.floor(visits / dice.between(45, 400)),
    up_votes: votes - against,
    down_votes: against,
  };
}

const GENRES = choices('Adventure, Building, Puzzle, Racing, Role play, Sport, Survival, Other', ', ');

export const GAME: Writer = {
  kind: 'game',
  hidden: 'restricted',
  unmeasured: gaps(`
    root_place_id | state | name | description | creator_type | creator_type creator_id creator_name |
    access price | playing | visits | favourites | up_votes down_votes | max_players | genre | created_at |
    updated_at`),
  write(subject) {
    const { dice, story, name } = subject;
    const isPaid = story.sale === 'paid';
    return {
      columns: {
        root_place_id: dice.once(4) ? 7e13 + dice.below(7e13) : 1 + dice.below(9e9),
        name,
        description: describe(story.description, 'game', name, dice),
        ...creatorOf(subject),
        access: isPaid ? 'paid' : 'free',
        price: isPaid ? 25 * (1 + dice.below(40)) : null,
        ...audienceOf(subject),
        max_players: dice.pick([1, 6, 8, 10, 12, 16, 20, 30, 50, 100]),
        genre: dice.pick(GENRES),
        updated_at: updatedAt(subject),
      },
    };
  },
};

/** Price and resale. Only limited items that are sold out are resold: the rarer, the dearer. */
function saleOf({ dice, story: { sale = 'paid', resale } }: Subject): Row {
  const isSoldOut = sale === 'limited';
  const isLimited = isSoldOut || sale === 'limited on sale';
  const isListed = !isSoldOut && sale !== 'unlisted';
  const total = dice.pick([10, 25, 50, 100, 100, 150, 250, 500, 500, 1_000, 2_500, 5_000, 25_000]);
  const usual = Math.floor((40 + dice.tail(60, 24)) * (1 + 2_000 / (total + 20)));
  // The cheapest offer is near what was paid of late; some nobody offers
  const lowest = dice.once(6) ? null : Math.floor(usual * dice.between(0.85, 1.6));
  return {
    price_state: !isListed ? 'unlisted' : sale === 'free' ? 'free' : 'priced',
    price: !isListed ? null : sale === 'free' ? 0 : 5 * (1 + dice.tail(6, 10)),
    // Owners of a limited item may sell it
    off_sale: sale === 'unlisted' || (isSoldOut && dice.once(2)) ? 1 : 0,
    limited: isLimited ? 1 : 0,
    lowest_resale_price: isSoldOut ? (resale ?? lowest) : null,
    recent_average_price: isSoldOut ? usual : null,
    quantity_total: isLimited ? total : null,
    quantity_remaining: isSoldOut ? 0 : isLimited ? 1 + dice.below(total) : null,
  };
}

export const ITEM: Writer = {
  kind: 'item',
  hidden: 'deleted',
  unmeasured: gaps(`
    state | name | description | asset_type_id asset_type | asset_type | creator_type |
    creator_type creator_id creator_name | price_state price | price | off_sale |
    limited lowest_resale_price recent_average_price | quantity_total quantity_remaining | favourites |
    created_at | updated_at`),
  write(subject) {
    const { index, dice, story, name, size } = subject;
    const type = index % ITEM_TYPES.length;
    return {
      columns: {
        name,
        description: describe(story.description, 'item', name, dice),
        asset_type_id: 3 + 7 * type,
        asset_type: ITEM_TYPES[type] ?? null,
        ...creatorOf(subject),
        ...saleOf(subject),
        favourites: Math.floor(size / 8),
        updated_at: updatedAt(subject),
      },
    };
  },
};
