import { creator } from './creator.js';
import { bool, count, id, measured, object, oneOf, required, text, time } from './field.js';
import type { Resource } from './field.js';

const itemId = required(id('id', 30551982, 'Numeric asset id of the item, stable.'));

export const item: Resource = {
  kind: 'item',
  plural: 'items',
  record: {
    route: 'item',
    fields: [
      itemId,
      text('name', 'Copper Diving Helmet', 'Name, exactly as read.'),
      oneOf('state', ['present', 'deleted'], 'What became of the item on the platform.'),
      text('description', 'Polished by hand.', 'Description, exactly as read.'),
      object('asset_type', 'What sort of item it is, in the platform’s terms.', {
        id: id('asset_type_id', 8, 'Number of the asset type.'),
        name: text('asset_type', 'Hat', 'Name of the asset type.'),
      }),
      creator,
      oneOf('price_state', ['priced', 'free', 'unlisted'], 'Whether the item has a price.'),
      count('price', 'currency units', 120, 'Price in the catalogue.'),
      bool('off_sale', false, 'Whether the item is off sale.'),
      bool('limited', true, 'Whether copies are limited and can be resold.'),
      count('lowest_resale_price', 'currency units', 1180, 'Lowest price asked in resale.'),
      count('recent_average_price', 'currency units', 1336, 'Average price of recent resales.'),
      count('quantity_total', 'copies', 5000, 'Copies ever offered.'),
      count('quantity_remaining', 'copies', 12, 'Copies still on offer.'),
      count('favourites', 'users', 4783, 'Users who marked it a favourite.'),
      time('created_at', '2018-05-30T07:25:25Z', 'When the item was created, by the platform.'),
      time('updated_at', '2026-10-01T12:00:00Z', 'When the item was last updated, by the platform.'),
      ...measured,
      { is: 'links', name: 'links', description: 'Path of this record.', routes: { self: 'item' } },
    ],
  },
  histories: [],
  totals: [],
};
