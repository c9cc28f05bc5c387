/** What snapshot.json says of the bulk downloads. */
import type { Downloads } from '../../exports/exports.js';
import type { Plan } from '../../publish/plan.js';
import { nested, part, value } from '../parts.js';
import type { Part } from '../parts.js';

export const EXAMPLE_DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

export const downloadsState: Part<{ readonly downloads: Downloads; readonly plan: Plan }> = nested(
  'downloads',
  'The state of the bulk downloads, which may be older than the rest.',
  [
    part(
      value(
        'as_of',
        'time',
        '2026-11-20T08:00:00Z',
        'Time of the newest measurement in them; null if there is none.',
        { nullable: true },
      ),
      ({ downloads }) => downloads.asOf,
    ),
    part(
      value(
        'sequence',
        'ordinal',
        117,
        'The snapshot that the downloads belong to. The change lists after it bring them up to date.',
      ),
      ({ downloads, plan }) => (downloads.kept ?? plan).sequence,
    ),
    part(
      value('digest', 'sha256', EXAMPLE_DIGEST, 'Digest of that snapshot.'),
      ({ downloads, plan }) => (downloads.kept ?? plan).digest,
    ),
  ],
);
