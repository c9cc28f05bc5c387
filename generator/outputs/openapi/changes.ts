/** The shape of /changes/index.json. */
import { RESOURCES } from '../../schema/schema.js';
import type { ObjectShape } from '../../schema/shape.js';
import { changeIndexSchema } from '../../tree/changes.js';
import { documentShape } from '../described-schema.js';
import { value } from '../parts.js';

const counts: ObjectShape = {
  is: 'object',
  name: 'counts',
  nullable: false,
  description: 'Number of records of each kind that it added, changed and removed, if known.',
  members: RESOURCES.map(({ plural }): ObjectShape => ({
    is: 'object',
    name: plural,
    nullable: false,
    optional: true,
    description: `Changes to ${plural}.`,
    members: ['added', 'changed', 'removed'].map((what) =>
      value(what, 'count', 1290, `Number of ${plural} ${what}.`, { unit: plural }),
    ),
  })),
};

export const CHANGES_SHAPE = documentShape('changes', changeIndexSchema, { counts });
