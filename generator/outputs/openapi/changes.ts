/** The shapes of the documents below /changes, since the publisher only writes them. */
import { RESOURCES } from '../../schema/index.js';
import type { ObjectShape, Shape, ValueShape } from '../../schema/shape.js';
import { value } from '../parts.js';
import type { ValueDetails } from '../parts.js';

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

const file = (what: string, path: string, bytes: number): readonly ValueShape[] => [
  value('file', 'path', path, `Path of the ${what}.`),
  value('bytes', 'count', bytes, `Size of the ${what}.`, { unit: 'bytes' }),
  digest('sha256', `SHA-256 of the ${what}.`),
];

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

const change: readonly Shape[] = [
  sequence('sequence', 'Number of the snapshot.'),
  sequence('from', 'Number of the snapshot before it; null if it has no change list.', { nullable: true }),
  digest('from_digest', 'Digest of the snapshot before it; null if it has no change list.', {
    nullable: true,
  }),
  digest('digest', 'Digest of the snapshot.'),
  value(
    'as_of',
    'time',
    '2026-11-20T08:00:00Z',
    'Time of the newest measurement in it; null if it is empty.',
    {
      nullable: true,
    },
  ),
  value('built_at', 'time', '2026-11-20T09:00:00Z', 'When the snapshot was built.'),
  counts,
  value('file', 'path', '/changes/118.json', 'Path of its change list; null if it has none.', {
    nullable: true,
  }),
  value('bytes', 'count', 180_232, 'Size of the change list; null if it has none.', {
    unit: 'bytes',
    nullable: true,
  }),
  digest('sha256', 'SHA-256 of the change list; null if it has none.', { nullable: true }),
  {
    is: 'object',
    name: 'bundle',
    nullable: true,
    description: 'The bodies of all documents that it changed; null if they are too large or not kept.',
    members: file('bundle', '/changes/118.ndjson.gz', 901_120),
  },
];

export const CHANGES_SHAPE: ObjectShape = {
  is: 'object',
  name: 'changes',
  nullable: false,
  description: 'The newest snapshots and what each of them changed.',
  members: [
    tree,
    sequence('sequence', 'Number of the published snapshot.'),
    digest('digest', 'Digest of the published snapshot.'),
    sequence(
      'oldest',
      'Number of the oldest snapshot from which the bundles lead to this one. An older copy has to start over.',
    ),
    {
      is: 'object',
      name: 'downloads',
      nullable: false,
      optional: true,
      description: 'The snapshot that the bulk downloads belong to, which may be older.',
      members: [
        sequence('sequence', 'Number of that snapshot.'),
        digest('digest', 'Digest of that snapshot.'),
      ],
    },
    {
      is: 'list',
      name: 'changes',
      nullable: false,
      description: 'The snapshots, newest first.',
      members: change,
    },
  ],
};

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
