import { creator } from './creator.js';
import { count, id, measured, oneOf, required, text, time } from './field.js';
import type { Resource } from './field.js';

const gameId = required(id('id', 88123, 'Numeric universe id of the game, stable.'));

export const game: Resource = {
  kind: 'game',
  plural: 'games',
  record: {
    route: 'game',
    fields: [
      gameId,
      id('root_place_id', 190551, 'Id of the place where players start.'),
      text('name', 'Lantern Harbour', 'Name, exactly as read.'),
      oneOf('state', ['present', 'restricted', 'deleted'], 'What became of the game on the platform.'),
      text('description', 'Sail out at dusk.', 'Description, exactly as read.'),
      creator,
      oneOf('access', ['free', 'paid'], 'Whether playing costs something.'),
      count('price', 'currency units', 25, 'Price of access.'),
      count('playing', 'players', 1290, 'Players at the moment of the reading.'),
      count('visits', 'visits', 70214993, 'Visits ever.'),
      count('favourites', 'users', 90311, 'Users who marked it a favourite.'),
      count('up_votes', 'votes', 41020, 'Votes for it.'),
      count('down_votes', 'votes', 3177, 'Votes against it.'),
      count('max_players', 'players', 30, 'Players one server takes.'),
      text('genre', 'Adventure', 'Genre, as the platform names it.'),
      time('created_at', '2020-08-30T14:00:00Z', 'When the game was created, by the platform.'),
      time('updated_at', '2026-11-02T18:45:00Z', 'When the game was last updated, by the platform.'),
      ...measured,
      { is: 'links', name: 'links', description: 'Path of this record.', routes: { self: 'game' } },
    ],
  },
  histories: [],
  totals: ['visits', 'playing'],
};
