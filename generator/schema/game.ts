/** Games (experiences). */
import { CREATOR, creator } from './creator.js';
import { count, date, id, measured, oneOf, required, text, type Resource } from './field.js';
import { PRICE_UNIT } from './shape.js';

const gameId = required(id('id', 88123, 'Stable numeric id of the game.'));

export const game: Resource = {
  kind: 'game',
  plural: 'games',
  record: {
    route: 'game',
    fields: [
      gameId,
      id('root_place_id', 190551, 'Id of the place where players start, which is not the id of the game.'),
      text('name', 'Lantern Harbour', 'Name of the game, exactly as read.'),
      oneOf(
        'state',
        {
          present: 'the platform shows it',
          restricted: 'the platform shows it, but not everybody may play it',
          deleted: 'the platform no longer has it',
        },
        'State of the game on the platform.',
      ),
      text('description', 'Sail out at dusk.', 'Description, exactly as read.'),
      creator,
      oneOf(
        'access',
        { free: 'it costs nothing', paid: 'it has a price' },
        'Whether access to the game is free or paid.',
      ),
      count('price', PRICE_UNIT, 25, 'Price of access to the game.', {
        nullMeans: 'not measured, or access is free',
      }),
      count('playing', 'players', 1290, 'Players in the game when it was measured.'),
      count('visits', 'visits', 70214993, 'Total visits to date.'),
      count('favourites', 'users', 90311, 'Users who have marked it as a favourite.'),
      count('up_votes', 'votes', 41020, 'Votes for the game.'),
      count('down_votes', 'votes', 3177, 'Votes against the game.'),
      count('max_players', 'players', 30, 'Maximum number of players on one server.'),
      text('genre', 'Adventure', 'Genre, as named by the platform.'),
      date('created_at', '2020-08-30T14:00:00Z', 'When the game was created, according to the platform.'),
      date(
        'updated_at',
        '2026-11-02T18:45:00Z',
        'When the game was last updated, according to the platform.',
      ),
      ...measured,
      {
        is: 'links',
        name: 'links',
        description: 'Paths of this record and that of its creator.',
        targets: { self: 'game', creator: CREATOR },
      },
    ],
  },
  histories: [],
  totals: ['visits', 'playing'],
};
