/** What a snapshot.json says of its service: limits, headers, errors and the operator. */
import * as z from 'zod';
import { CACHE_CLASSES, DOWNLOAD_TOKEN_BYTES } from '../routes/route.js';
import { PATHS } from '../routes/paths.js';
import { PATH_LENGTH, described, headers, servicePath, text } from './values.js';

/** The headers of responses with content, by the class of their route. */
export const contentHeaders = described(
  z
    .record(
      z.enum(CACHE_CLASSES),
      described(headers, 'Headers of one class.', undefined, { name: '{class}' }),
    )
    .refine((content) => Object.values(content).every((fields) => fields['Cache-Control'] !== undefined)),
  'On 200, 206 and 304, by the class of the route.',
);

/** A token bucket. @param tokens and `seconds` are the example in the description */
export const limit = (tokens: number, seconds: number) =>
  z.object({
    tokens: described(z.int().min(1).max(1_000_000), 'Requests allowed at once.', tokens, {
      unit: 'requests',
    }),
    // From a millisecond to a day.
    refill_seconds: described(z.number().min(0.001).max(86_400), 'Time until one more is allowed.', seconds, {
      unit: 'seconds',
    }),
  });

export const downloadLimit = limit(12, 60).extend({
  token_bytes: described(
    z.int().min(1),
    'A download of at least so many bytes counts as one, a smaller one as its share, at least a hundredth.',
    DOWNLOAD_TOKEN_BYTES,
    { unit: 'bytes' },
  ),
});

export const error = described(
  z.object({
    status: described(z.int().min(400).max(599), 'The HTTP status.', 404),
    title: described(text, 'Title of the error.', 'Not found'),
    detail: described(
      text,
      'The detail where a server knows no more about the request.',
      'nothing is published at this path',
    ),
    page: described(
      servicePath.exactOptional(),
      'Path of the page that browsers get instead of the problem document: on routes of HTML pages, and on paths of no route without an extension, except at and below problems_below.',
      PATHS.notFound,
    ),
  }),
  'One error.',
  undefined,
  { name: '{code}' },
);

/** The errors that every server of a tree needs. */
export const ERROR_CODES = [
  'invalid_id',
  'invalid_limit',
  'invalid_prefix',
  'invalid_path',
  'invalid_request',
  'not_found',
  'method_not_allowed',
  'precondition_failed',
  'uri_too_long',
  'range_not_satisfiable',
  'rate_limited',
  'internal',
  'no_snapshot',
  'version_not_supported',
] as const;

export const service = z.looseObject({
  name: described(text, 'Name of the register.', 'The Example Register'),
  url: described(text, 'The URL that credits should link to.', 'https://register.example', { type: 'url' }),
  base_url: described(
    z
      .string()
      .max(PATH_LENGTH, { abort: true })
      .regex(/^https?:\/\/[\w.~:[\]-]+(\/[\w.~/-]*)?$/),
    'Base URL of the service.',
    'https://register.example',
    { type: 'url' },
  ),
  docs: described(servicePath, 'Path of the documentation page for developers.', PATHS.docs),
  description: described(servicePath, 'The OpenAPI description.', PATHS.description),
  licence: described(
    z.object({
      name: described(text, 'Name of the licence.', 'CC BY 4.0'),
      url: described(text, 'URL of the licence text.', 'https://creativecommons.org/licenses/by/4.0/', {
        type: 'url',
      }),
    }),
    'Licence of the data.',
  ),
  tag_authority: described(text, 'The domain in the ids of feed entries (tag URIs).', 'register.example'),
});
