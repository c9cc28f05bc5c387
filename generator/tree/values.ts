/**
 * The values of which a snapshot.json and what goes with it are made: texts, headers, times, hashes.
 * A schema also says what its members mean, so that the description of the API follows from it.
 */
import * as z from 'zod';

/** What a description says of a value; its type and bounds follow from the schema. */
export interface MemberMeaning {
  readonly description?: string;
  readonly example?: string | number;
  readonly unit?: string;
  /** For a text that has a form. */
  readonly type?: 'text' | 'path' | 'url' | 'time' | 'sha256';
  /** Stands for the names of a list's or map's members: `{header}`. */
  readonly name?: string;
}

const MEANINGS = z.registry<MemberMeaning>();
export const meaningOf = (schema: z.core.$ZodType): MemberMeaning => MEANINGS.get(schema) ?? {};

/** A copy of a schema with this meaning, which adds to the one that it may have. */
export function described<T extends z.ZodType>(
  schema: T,
  description: string | undefined,
  example?: string | number,
  details: Omit<MemberMeaning, 'description' | 'example'> = {},
): T {
  const copy = schema.clone();
  MEANINGS.add(copy, {
    ...meaningOf(schema),
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
    ...details,
  });
  return copy;
}

/** The longest value of a header, and any text that becomes part of one. */
const VALUE_LENGTH = 4096;
/** The longest text for people. */
const TEXT_LENGTH = 10_000;
export const PATH_LENGTH = 255;
export const LIST_MOST = 100;

/** Headers about a connection, a client or a single response, which no snapshot may set. */
const REFUSED_HEADERS = new RegExp(
  `^(${[
    'alt-svc|clear-site-data|connection|content-(encoding|length|location|range|type)|cookie2?|date|expect|forwarded|host',
    'http2-settings|keep-alive|last-modified|location|etag|age|proxy-.*|ratelimit(-.*)?|refresh|retry-after',
    'server|set-cookie2?|te|trailer|transfer-encoding|upgrade|via|www-authenticate',
  ].join('|')})$`,
  'i',
);

/** A list whose length is checked before anything in it. */
export const listOf = <T extends z.ZodType>(of: T, most: number) =>
  z.array(z.unknown()).max(most).pipe(z.array(of));

export const printable = z
  .string()
  .max(VALUE_LENGTH, { abort: true })
  .regex(/^[!-~]([ -~]*[!-~])?$/);
export const text = z.string().max(TEXT_LENGTH);
export const count = z.int().min(0);

const headerName = z
  .string()
  .max(64, { abort: true })
  .regex(/^[A-Za-z][A-Za-z-]*$/)
  .refine((name) => !REFUSED_HEADERS.test(name));

/** Values by name. */
export const headers = z
  .record(headerName, described(printable, 'Value of the header.', 'nosniff', { name: '{header}' }))
  .refine((fields) => Object.keys(fields).length <= LIST_MOST);

/** RFC 3339 in UTC, to the second. */
export const time = described(
  z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  undefined,
  '2026-11-20T08:00:00Z',
  { type: 'time' },
);
export const sha256 = described(
  z.string().regex(/^[0-9a-f]{64}$/),
  undefined,
  '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  { type: 'sha256' },
);
/** A published file: its path, size and checksum. */
export const publishedFile = (what: string, example: string, bytes: number) =>
  z.object({
    file: described(z.string().max(PATH_LENGTH), `Path of the ${what}.`, example, { type: 'path' }),
    bytes: described(count, `Size of the ${what}.`, bytes, { unit: 'bytes' }),
    sha256: described(sha256, `SHA-256 of the ${what}.`),
  });

export const treeId = described(z.string().regex(/^[0-9a-f]{16}$/), undefined, '9f86d081884c7d65');

/** A path or template of this service, without anything that leads to another host. */
export const servicePath = described(
  z
    .string()
    .max(PATH_LENGTH, { abort: true })
    .regex(/^\/(?!\/)[\w.~/{}-]*$/),
  undefined,
  undefined,
  { type: 'path' },
);
