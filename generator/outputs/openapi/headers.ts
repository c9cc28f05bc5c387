/** The headers of responses, for documentation. */
import type { Limits } from '../../config/config.js';
import type { Limit } from '../../config/operator-file.js';
import { TAG_HEADERS, routeHeaders, type Headers, type PublishedHeaders } from '../../routes/headers.js';
import { countedBy, isCompressed, isDated, type Bucket, type Route } from '../../routes/route.js';

export interface Header {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  /** Whether every response that may have the header has it. */
  readonly always: boolean;
  /** Distinguishes it from the same header with a different value; empty if there is only one. */
  readonly variant: string;
}

/** What the headers of a response depend on. */
export interface ResponseFacts {
  readonly status: number;
  readonly route: Pick<Route, 'class' | 'bucket' | 'tag'>;
  readonly limits: Limits;
  readonly published: PublishedHeaders;
}

interface HeaderRule extends Omit<Header, 'example' | 'variant'> {
  /** Undefined if a response lacks the header; not set if the value is published. */
  readonly example?: (facts: ResponseFacts) => string | undefined;
  readonly variant?: (facts: ResponseFacts) => string;
}

const isContent = (status: number): boolean => status === 200 || status === 206;
const isShown = (status: number): boolean => isContent(status) || status === 304;

/** Which published headers a response has besides those common to all. */
const kindOf = ({ status, route }: ResponseFacts): string => {
  if (isShown(status)) return route.class;
  return status === 404 ? 'not_found' : 'error';
};

function publishedFor({ status, route, published }: ResponseFacts): Headers {
  const { all, content, not_found: notFound, error } = published;
  if (isShown(status)) return { ...all, ...content[route.class] };
  return { ...all, ...(status === 404 ? notFound : error) };
}

/** Before the first snapshot, and at a path that is too long to be routed, nothing is a download or a page. */
const bucketOf = ({ status, route }: ResponseFacts): Bucket =>
  status === 503 || status === 414 ? 'api' : route.bucket;

const policy = (name: Bucket, { tokens, refillSeconds }: Limit): string =>
  `"${name}";q=${tokens};w=${Math.ceil((tokens * Math.round(refillSeconds * 1000)) / 1000)}`;

/** RateLimit-Policy of a bucket: q requests, refilled in w seconds. Downloads use two buckets. */
export const policyText = (bucket: Bucket, limits: Limits): string =>
  countedBy(bucket)
    .map((name) => policy(name, limits[name]))
    .join(', ');

const byBucket = (facts: ResponseFacts): string => {
  const bucket = bucketOf(facts);
  return bucket === 'api' ? '' : bucket;
};

const RULES: readonly HeaderRule[] = [
  {
    name: 'Access-Control-Allow-Origin',
    description: 'Any web page may read the response.',
    always: true,
  },
  {
    name: 'Access-Control-Expose-Headers',
    description: 'The headers that scripts from other origins may read.',
    always: true,
  },
  {
    name: 'Cross-Origin-Resource-Policy',
    description: 'Any web page may embed the response.',
    always: true,
  },
  {
    name: 'X-Content-Type-Options',
    description: 'Browsers must trust Content-Type and not guess another type.',
    always: true,
  },
  {
    name: 'RateLimit-Policy',
    description:
      'The limits that the request counts against: q requests at once, replenished continuously over w seconds.',
    example: (facts) => policyText(bucketOf(facts), facts.limits),
    variant: byBucket,
    always: true,
  },
  {
    name: 'RateLimit',
    description:
      'What is left of a limit: r requests now, and one more in t seconds. On a 429, it is the limit that was exceeded. Sent only with errors other than 404 and 405: a cache would pass it on to other clients.',
    example: (facts) => {
      if (kindOf(facts) !== 'error') return undefined;
      const bucket = bucketOf(facts);
      return `"${bucket}";r=0;t=${Math.ceil(facts.limits[bucket].refillSeconds)}`;
    },
    variant: byBucket,
    always: false,
  },
  {
    name: 'Retry-After',
    description:
      'How many seconds to wait before the next request. After a 429, the limit then lets one more request through.',
    example: ({ status }) => (status === 429 || status === 503 ? '10' : undefined),
    always: true,
  },
  {
    name: 'Cache-Control',
    description: 'How long the response may be cached. Please do cache it.',
    variant: kindOf,
    always: true,
  },
  {
    name: 'CDN-Cache-Control',
    description: 'How long a CDN may cache the response (RFC 9213).',
    variant: kindOf,
    always: true,
  },
  ...TAG_HEADERS.map((name): HeaderRule => ({
    name,
    description: 'What a CDN can purge the response by. CDNs that use it remove it.',
    example: ({ status, route }) => (isContent(status) ? routeHeaders(route)[name] : undefined),
    variant: ({ route }) => routeHeaders(route)[name] ?? '',
    always: false,
  })),
  {
    name: 'Link',
    description:
      'On documents of the API and errors, links to the descriptions of the API (service-desc, service-doc, api-catalog) and to the licence of the data; on downloads, to the licence alone.',
    // Before the first snapshot, there are no published links.
    example: (facts) => (facts.status === 503 ? undefined : publishedFor(facts)['Link']),
    variant: (facts) => (kindOf(facts) === 'download' ? 'download' : ''),
    always: true,
  },
  {
    name: 'ETag',
    description:
      'Changes exactly when the content does. Send it back as If-None-Match to get a 304 without a body while nothing has changed.',
    example: ({ status }) => (isShown(status) ? '"m7Yk2nJwq0aXb3Zt"' : undefined),
    always: true,
  },
  {
    name: 'Last-Modified',
    description:
      'When the file last changed. Send it back as If-Modified-Since to get a 304 without a body while nothing has changed.',
    example: ({ status }) => (isShown(status) ? 'Fri, 20 Nov 2026 09:00:00 GMT' : undefined),
    always: true,
  },
  {
    name: 'Vary',
    description: 'There are compressed forms of the document; Accept-Encoding selects one.',
    example: ({ status, route }) =>
      isShown(status) && isCompressed(route.class) ? 'Accept-Encoding' : undefined,
    always: false,
  },
  {
    name: 'Content-Encoding',
    description: 'The compression of the body.',
    example: ({ status, route }) => (isContent(status) && isCompressed(route.class) ? 'br' : undefined),
    always: false,
  },
  {
    name: 'Accept-Ranges',
    description: 'Parts can be requested with Range.',
    always: true,
  },
  {
    name: 'Content-Range',
    description: 'Which part of the file this is, and the size of the whole file.',
    example: ({ status }) =>
      status === 206 ? 'bytes 0-99/1873' : status === 416 ? 'bytes */1873' : undefined,
    variant: ({ status }) => (status === 416 ? 'unsatisfied' : ''),
    always: true,
  },
  {
    name: 'Content-Disposition',
    description: 'The file name to save it under, which has the day of the newest measurement.',
    example: ({ status, route }) =>
      isContent(status) && isDated(route) ? 'attachment; filename="groups-2026-11-20.csv"' : undefined,
    always: true,
  },
  {
    name: 'Content-Length',
    description: 'The size of the body.',
    example: ({ status }) => (isContent(status) || status >= 400 ? '1873' : undefined),
    always: true,
  },
  {
    name: 'Content-Security-Policy',
    description: 'Pages load from this origin only.',
    always: true,
  },
  {
    name: 'Allow',
    description: 'The methods that are allowed.',
    example: ({ status, published }) => (status === 405 ? published.options['Allow'] : undefined),
    always: false,
  },
];

/** All possible headers of a response, besides Content-Type, Date and the connection's own. */
export function headersOf(facts: ResponseFacts): readonly Header[] {
  const published = publishedFor(facts);
  return RULES.flatMap(({ example, variant, ...rule }) => {
    const value = example === undefined ? published[rule.name] : example(facts);
    return value === undefined ? [] : [{ ...rule, example: value, variant: variant?.(facts) ?? '' }];
  });
}

/** All headers, for a table. */
export const HEADERS: readonly Pick<Header, 'name' | 'description'>[] = RULES.map(
  ({ name, description }) => ({ name, description }),
);
