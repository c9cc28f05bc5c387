/** The creator of a game or an item: a user or a group. */
import { id, object, oneOf, text, type ObjectField, type Reference } from './field.js';

/** The columns that identify the creator. */
export const CREATOR: Reference = {
  kind: { column: 'creator_type' },
  id: 'creator_id',
  name: 'creator_name',
};

export const creator: ObjectField = object(
  'creator',
  'The user or group that created it.',
  {
    type: oneOf('creator_type', ['user', 'group'], 'Whether the creator is a user or a group.'),
    id: id('creator_id', 1042, 'Id of the creator.', { identifies: CREATOR }),
    name: text('creator_name', 'marlow_finch', 'Name of the creator when it was read.', {
      identifies: CREATOR,
    }),
  },
  'not measured, or withheld',
);
