/** Users, with their names. */
import { bool, date, id, measured, oneOf, required, text, type History, type Resource } from './field.js';
import { changedAt, changedBetween, isCurrent, position, seen } from './histories.js';

const userId = required(id('id', 1042, 'Stable numeric id of the user.'));
const username = text('username', 'marlow_finch', 'Username of the user, exactly as read.');

const displayName = text('display_name', 'Marlow', 'Display name of the user, exactly as read.');

const usernames: History = {
  name: 'usernames',
  table: 'usernames',
  description: 'Usernames that a user has been observed with, oldest first.',
  key: required(id('user_id', 1042, 'Id of the user.')).column,
  order: position.column,
  fields: [position, required(username), isCurrent, ...seen, changedAt, ...changedBetween],
  agrees: { username: 'username' },
};

export const user: Resource = {
  kind: 'user',
  plural: 'users',
  record: {
    route: 'user',
    fields: [
      userId,
      username,
      displayName,
      oneOf(
        'state',
        {
          present: 'the platform shows the account',
          banned: 'the platform has banned the account',
          deleted: 'the platform no longer has the account',
        },
        'State of the user on the platform.',
      ),
      bool('verified', false, 'Whether the platform marks the user as verified.'),
      date('created_at', '2017-02-11T09:00:00Z', 'When the user joined, according to the platform.'),
      {
        is: 'derived',
        name: 'username_count',
        history: 'usernames',
        reads: [],
        shape: {
          is: 'value',
          name: 'username_count',
          type: 'count',
          nullable: true,
          nullMeans: 'the register has no username history, even if it has a username',
          description:
            'Number of usernames observed, including the present one: the entries of the username history.',
          example: 2,
          unit: 'usernames',
        },
        compute: ({ count }) => (count === 0 ? null : count),
      },
      ...measured,
      {
        is: 'links',
        name: 'links',
        description: 'Paths of this record and its usernames.',
        targets: { self: 'user', usernames: 'user-usernames' },
      },
    ],
  },
  history: {
    route: 'user-usernames',
    fields: [
      userId,
      username,
      { is: 'list', name: 'usernames', description: usernames.description, history: 'usernames' },
      {
        is: 'links',
        name: 'links',
        description: 'Paths of this history and its record.',
        targets: { self: 'user-usernames', user: 'user' },
      },
    ],
  },
  histories: [usernames],
  totals: [],
  nameColumn: username.name,
  sharedNameColumn: displayName.name,
};
