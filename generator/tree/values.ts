/** The values of which a snapshot.json and what goes with it are made: texts, headers, times, hashes. */
import { z } from 'zod';

/** Of a header's value, as of any text that reaches a header. */
const VALUE_LENGTH = 4096;
/** Of texts for people. */
const TEXT_LENGTH = 10_000;
export const PATH_LENGTH = 255;
export const LIST_MOST = 100;

/** Headers that are about the connection, the client or one response, and so never of a snapshot. */
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

export const headerName = z
  .string()
  .max(64, { abort: true })
  .regex(/^[A-Za-z][A-Za-z-]*$/)
  .refine((name) => !REFUSED_HEADERS.test(name));

/** Values by name. */
export const headers = z
  .record(headerName, printable)
  .refine((fields) => Object.keys(fields).length <= LIST_MOST);

/** RFC 3339 in UTC, to the second. */
export const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const treeId = z.string().regex(/^[0-9a-f]{16}$/);

/** A path or template of this service, without anything that leads to another host. */
export const servicePath = z
  .string()
  .max(PATH_LENGTH, { abort: true })
  .regex(/^\/(?!\/)[\w.~/{}-]*$/);
