/** The creator of a game or an item: a user or a group. */
import { id, object, oneOf, text } from './field.js';
import type { ObjectField, Reference } from './field.js';

const CREATOR: Reference = { kind: { column: 'creator_type' }, id: 'creator_id', name: 'creator_name' };

export const creator: ObjectField = object('creator', 'The user or group who made it.', {
  type: oneOf('creator_type', ['user', 'group'], 'Whether a user or a group made it.'),
  id: id('creator_id', 1042, 'Id of the user or group.', { identifies: CREATOR }),
  name: text('creator_name', 'marlow_finch', 'Name of the user or group when it was read.', {
    identifies: CREATOR,
  }),
});
