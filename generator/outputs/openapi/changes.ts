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
  description: 'Records that it added, changed and removed, per kind, where that is known.',
  members: RESOURCES.map(({ plural }): ObjectShape => ({
    is: 'object',
    name: plural,
    nullable: false,
    optional: true,
    description: `What became of ${plural}.`,
    members: ['added', 'changed', 'removed'].map((what) =>
      value(what, 'count', 1290, `How many were ${what}.`, { unit: plural }),
    ),
  })),
};

const change: readonly Shape[] = [
  sequence('sequence', 'Number of the snapshot.'),
  sequence('from', 'The snapshot before it; null where none leads here.', { nullable: true }),
  value('as_of', 'time', '2026-11-20T08:00:00Z', 'The newest measurement in it; null where it is empty.', {
    nullable: true,
  }),
  value('built_at', 'time', '2026-11-20T09:00:00Z', 'When it was built.'),
  counts,
  value('file', 'path', '/changes/118.json', 'Its change list; null for a snapshot that none leads to.', {
    nullable: true,
  }),
  value('bytes', 'count', 180_232, 'Size of the list; null where there is none.', {
    unit: 'bytes',
    nullable: true,
  }),
  value('sha256', 'sha256', SHA256, 'SHA-256 of the list; null where there is none.', { nullable: true }),
];

export const CHANGES_SHAPE: ObjectShape = {
  is: 'object',
  name: 'changes',
  nullable: false,
  description: 'The newest snapshots, with what each changed.',
  members: [
    sequence('sequence', 'The snapshot that is published.'),
    sequence(
      'oldest',
      'The oldest snapshot from which the lists lead here; a copy older than that starts over.',
    ),
    { is: 'list', name: 'changes', description: 'Snapshots, newest first.', members: change },
  ],
};

export const CHANGE_LIST_SHAPE: ObjectShape = {
  is: 'object',
  name: 'change-list',
  nullable: false,
  description: 'Every URL that one snapshot changed or removed.',
  members: [
    sequence('from', 'The snapshot that the list begins at.'),
    sequence('to', 'The snapshot that it leads to.'),
    {
      is: 'list',
      name: 'put',
      description: 'What is new or changed: fetch it.',
      members: [
        value('path', 'path', '/api/v1/group/7', 'The URL to ask for, below the base URL.'),
        value('sha256', 'sha256', SHA256, 'SHA-256 of the content.'),
        value('bytes', 'count', 1873, 'Size of the content.', { unit: 'bytes' }),
      ],
    },
    {
      is: 'values',
      name: 'delete',
      description: 'What is gone: forget it.',
      of: value('path', 'path', '/api/v1/group/9', 'The URL that nothing answers any more.'),
    },
  ],
};
