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

const change: readonly Shape[] = [
  sequence('sequence', 'Number of the snapshot.'),
  sequence('from', 'Number of the snapshot before it; null if it has no change list.', { nullable: true }),
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
  value('sha256', 'sha256', SHA256, 'SHA-256 of the change list; null if it has none.', { nullable: true }),
];

export const CHANGES_SHAPE: ObjectShape = {
  is: 'object',
  name: 'changes',
  nullable: false,
  description: 'The newest snapshots and what each of them changed.',
  members: [
    sequence('sequence', 'Number of the published snapshot.'),
    sequence(
      'oldest',
      'Number of the oldest snapshot from which the change lists lead to this one. An older copy has to start over.',
    ),
    { is: 'list', name: 'changes', description: 'The snapshots, newest first.', members: change },
  ],
};

export const CHANGE_LIST_SHAPE: ObjectShape = {
  is: 'object',
  name: 'change-list',
  nullable: false,
  description: 'Every URL that one snapshot added, changed or removed.',
  members: [
    sequence('from', 'Number of the snapshot that the list starts from.'),
    sequence('to', 'Number of the snapshot that the list leads to.'),
    {
      is: 'list',
      name: 'put',
      description: 'Documents that are new or changed: fetch them.',
      members: [
        value('path', 'path', '/api/v1/group/7', 'Path to request, relative to the base URL.'),
        value('sha256', 'sha256', SHA256, 'SHA-256 of the document.'),
        value('bytes', 'count', 1873, 'Size of the document.', { unit: 'bytes' }),
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
