/** The shapes of the documents below /changes. */
import { RESOURCES } from '../../schema/schema.js';
import type { ObjectShape, ValueShape } from '../../schema/shape.js';
import { changeIndexSchema } from '../../tree/changes.js';
import { documentShape } from '../described-schema.js';
import { value, type ValueDetails } from '../parts.js';

const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const sequence = (name: string, description: string, details: ValueDetails = {}): ValueShape =>
  value(name, 'ordinal', 118, description, details);

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

const digest = (name: string, description: string, details: ValueDetails = {}): ValueShape =>
  value(name, 'sha256', SHA256, description, details);

const tree = value(
  'tree',
  'text',
  '9f86d081884c7d65',
  'Identifies the tree. One that starts over has another.',
);

/** The ends of a change list or bundle. */
const step: readonly ValueShape[] = [
  tree,
  sequence('from', 'Number of the snapshot that it starts from.'),
  sequence('to', 'Number of the snapshot that it leads to.'),
  digest('from_digest', 'Digest of the snapshot that it starts from.'),
  digest('to_digest', 'Digest of the snapshot that it leads to.'),
];

export const CHANGES_SHAPE = documentShape('changes', changeIndexSchema, { counts });

export const CHANGE_LIST_SHAPE: ObjectShape = {
  is: 'object',
  name: 'change-list',
  nullable: false,
  description: 'Every URL that one snapshot added, changed or removed.',
  members: [
    ...step,
    {
      is: 'list',
      nullable: false,
      name: 'put',
      description: 'Documents that are new or changed: fetch them.',
      members: [
        value(
          'path',
          'text',
          '/api/v1/group/7',
          'Path to request, relative to the base URL. With {limit} in it, it stands for all values of the parameter.',
        ),
        value(
          'sha256',
          'sha256',
          SHA256,
          'SHA-256 of the document; of several, over their lines in the digest.',
        ),
        value('bytes', 'count', 1873, 'Size of the document, or of all of them.', { unit: 'bytes' }),
        value('documents', 'count', 200, 'How many documents the entry stands for, if it is not one.', {
          optional: true,
        }),
      ],
    },
    {
      is: 'values',
      name: 'delete',
      description: 'Documents that were removed: delete them.',
      of: value('path', 'path', '/api/v1/group/9', 'Path at which nothing is published any more.'),
    },
  ],
};
