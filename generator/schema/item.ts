/** Items of the catalogue. */
import { CREATOR, creator } from './creator.js';
import { bool, count, date, id, measured, object, oneOf, required, text, type Resource } from './field.js';
import { PRICE_UNIT } from './shape.js';

const itemId = required(id('id', 30551982, 'Stable numeric id of the item (its asset id).'));

/** What only limited items have. */
const OF_LIMITED = { nullMeans: 'not measured, or the item is not limited' };

export const item: Resource = {
  kind: 'item',
  plural: 'items',
  record: {
    route: 'item',
    fields: [
      itemId,
      text('name', 'Copper Diving Helmet', 'Name of the item, exactly as read.'),
      oneOf(
        'state',
        { present: 'the platform shows it', deleted: 'the platform no longer has it' },
        'State of the item on the platform.',
      ),
      text('description', 'Polished by hand.', 'Description, exactly as read.'),
      object('asset_type', 'Type of the item, as defined by the platform.', {
        id: id('asset_type_id', 8, 'Numeric id of the asset type.'),
        name: text('asset_type', 'Hat', 'Name of the asset type.'),
      }),
      creator,
      oneOf(
        'price_state',
        {
          priced: 'it has a price',
          free: 'it costs nothing',
          unlisted: 'it has no price there, though its owners may resell it',
        },
        'Whether the catalogue has a price for the item.',
      ),
      count('price', PRICE_UNIT, 120, 'Price in the catalogue.', {
        nullMeans: 'not measured, or price_state is unlisted',
      }),
      bool('off_sale', false, 'Whether the item is off sale.'),
      bool('limited', true, 'Whether copies are limited in number and can be resold.'),
      count('lowest_resale_price', PRICE_UNIT, 1180, 'Lowest asking price for a resale.', OF_LIMITED),
      count('recent_average_price', PRICE_UNIT, 1336, 'Average price of recent resales.', OF_LIMITED),
      count('quantity_total', 'copies', 5000, 'Number of copies ever offered.', OF_LIMITED),
      count('quantity_remaining', 'copies', 12, 'Number of copies still on offer.', OF_LIMITED),
      count('favourites', 'users', 4783, 'Users who have marked it as a favourite.'),
      date('created_at', '2018-05-30T07:25:25Z', 'When the item was created, according to the platform.'),
      date(
        'updated_at',
        '2026-10-01T12:00:00Z',
        'When the item was last updated, according to the platform.',
      ),
      ...measured,
      {
        is: 'links',
        name: 'links',
        description: 'Paths of this record and that of its creator.',
        targets: { self: 'item', creator: CREATOR },
      },
    ],
  },
  histories: [],
  totals: [],
};
