/** The headers of responses, for documentation. */
import type { Limit, Limits } from '../../config.js';
import type { Headers, PublishedHeaders } from '../../routes/headers.js';
import type { Bucket, Route } from '../../routes/index.js';

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
  readonly route: Pick<Route, 'class' | 'bucket'>;
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
const sortOf = ({ status, route }: ResponseFacts): string => {
  if (isShown(status)) return route.class;
  return status === 404 ? 'not_found' : 'error';
};

function publishedFor({ status, route, published }: ResponseFacts): Headers {
  const { all, content, not_found: notFound, error } = published;
  if (isShown(status)) return { ...all, ...content[route.class] };
  return { ...all, ...(status === 404 ? notFound : error) };
}

/** Before the first snapshot, nothing is a download or a page. */
const bucketOf = ({ status, route }: ResponseFacts): Bucket => (status === 503 ? 'api' : route.bucket);

const policy = (name: Bucket, { tokens, refillSeconds }: Limit): string =>
  `"${name}";q=${tokens};w=${Math.ceil((tokens * Math.round(refillSeconds * 1000)) / 1000)}`;

/** RateLimit-Policy of a bucket: q requests, refilled in w seconds. Downloads use two buckets. */
export const policyText = (bucket: Bucket, limits: Limits): string =>
  (bucket === 'download' ? (['download', 'api'] as const) : [bucket])
    .map((name) => policy(name, limits[name]))
    .join(', ');

const byBucket = (facts: ResponseFacts): string => {
  const bucket = bucketOf(facts);
  return bucket === 'api' ? '' : bucket;
};

const RULES: readonly HeaderRule[] = [
  {
    name: 'Access-Control-Allow-Origin',
    description: 'Any web page may read the answer.',
    always: true,
  },
  {
    name: 'Access-Control-Expose-Headers',
    description: 'The headers that scripts of other origins may read.',
    always: true,
  },
  {
    name: 'Cross-Origin-Resource-Policy',
    description: 'Any web page may embed the answer.',
    always: true,
  },
  {
    name: 'X-Content-Type-Options',
    description: 'The content is what Content-Type says.',
    always: true,
  },
  {
    name: 'RateLimit-Policy',
    description:
      'The limits that the request counts against: q requests at once, w seconds until all are back. They come back continuously.',
    example: (facts) => policyText(bucketOf(facts), facts.limits),
    variant: byBucket,
    always: true,
  },
  {
    name: 'RateLimit',
    description:
      'What is left: r requests, t seconds until there is one more. After a 429, of the limit that refused. Only on answers that nobody may store, since caches would repeat it to others.',
    example: (facts) => {
      if (sortOf(facts) !== 'error') return undefined;
      const bucket = bucketOf(facts);
      return `"${bucket}";r=0;t=${Math.ceil(facts.limits[bucket].refillSeconds)}`;
    },
    variant: byBucket,
    always: false,
  },
  {
    name: 'Retry-After',
    description: 'After how many seconds the next request has a chance; after a 429, it passes then.',
    example: ({ status }) => (status === 429 || status === 503 ? '10' : undefined),
    always: true,
  },
  {
    name: 'Cache-Control',
    description: 'How long the answer may be kept. Please do keep it.',
    variant: sortOf,
    always: true,
  },
  {
    name: 'CDN-Cache-Control',
    description: 'How long a CDN may keep it (RFC 9213).',
    variant: sortOf,
    always: true,
  },
  {
    name: 'Link',
    description:
      'Where the API is described (service-desc, service-doc, api-catalog), and the licence of the data.',
    // Before the first snapshot, there are no published links.
    example: (facts) => (facts.status === 503 ? undefined : publishedFor(facts)['Link']),
    always: true,
  },
  {
    name: 'ETag',
    description:
      'Changes exactly when the content does. Sent back as If-None-Match, it spares the body (304).',
    example: ({ status }) => (isShown(status) ? '"m7Yk2nJwq0aXb3Zt"' : undefined),
    always: true,
  },
  {
    name: 'Last-Modified',
    description: 'When the file last changed. Sent back as If-Modified-Since, it spares the body (304).',
    example: ({ status }) => (isShown(status) ? 'Fri, 20 Nov 2026 09:00:00 GMT' : undefined),
    always: true,
  },
  {
    name: 'Vary',
    description: 'There are compressed forms of it, chosen by Accept-Encoding.',
    example: ({ status, route }) =>
      isShown(status) && route.class !== 'download' ? 'Accept-Encoding' : undefined,
    always: false,
  },
  {
    name: 'Content-Encoding',
    description: 'The compressed form this is.',
    example: ({ status, route }) => (isContent(status) && route.class !== 'download' ? 'br' : undefined),
    always: false,
  },
  {
    name: 'Accept-Ranges',
    description: 'Parts can be asked for with Range.',
    always: true,
  },
  {
    name: 'Content-Range',
    description: 'Which part this is, and the size of the whole.',
    example: ({ status }) =>
      status === 206 ? 'bytes 0-99/1873' : status === 416 ? 'bytes */1873' : undefined,
    variant: ({ status }) => (status === 416 ? 'unsatisfied' : ''),
    always: true,
  },
  {
    name: 'Content-Disposition',
    description: 'The name to save it under, with the day of the newest reading.',
    example: ({ status, route }) =>
      isContent(status) && route.bucket === 'download'
        ? 'attachment; filename="groups-2026-11-20.csv"'
        : undefined,
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
    description: 'The methods there are.',
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
