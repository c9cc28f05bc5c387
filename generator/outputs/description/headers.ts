/**
 * The headers of the answers as they are explained to people. The proxy sends them by tables of its own; a
 * contract test holds the two equal.
 */
import type { Limit, Limits } from '../../config.js';
import type { CacheClass, Route } from '../../routes.js';
import { lifetimeOf } from './lifetimes.js';

export interface Header {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  /** Whether every answer that may have it has it. */
  readonly always: boolean;
  /** Tells it from the same header with another value; empty where one value speaks for all. */
  readonly variant: string;
}

/** What headers say of an answer depends on. */
export interface AnswerFacts {
  readonly status: number;
  readonly route: Pick<Route, 'class'>;
  readonly limits: Limits;
}

interface HeaderRule extends Omit<Header, 'example' | 'variant'> {
  /** Undefined where an answer does not have it. */
  readonly example: (facts: AnswerFacts) => string | undefined;
  readonly variant?: (facts: AnswerFacts) => string;
}

const isContent = (status: number): boolean => status === 200 || status === 206;
const isShown = (status: number): boolean => isContent(status) || status === 304;
/** Whether an answer of this class describes the API by Link. */
export const isApi = (cacheClass: CacheClass): boolean => cacheClass === 'record' || cacheClass === 'summary';
const isUncached = ({ status, route }: AnswerFacts): boolean =>
  lifetimeOf(status, route.class).cdn === undefined;

/** The name of the limit that an answer counts against. Before the first snapshot nothing is a download. */
const policyOf = ({ status, route }: AnswerFacts): keyof Limits =>
  route.class === 'download' && status !== 503 ? 'download' : 'api';

/** A limit as RateLimit-Policy says it: q requests, w seconds in which an empty bucket fills. */
export const policyText = (name: keyof Limits, { tokens, refillSeconds }: Limit): string =>
  `"${name}";q=${tokens};w=${tokens * refillSeconds}`;

const byLifetime = ({ status, route }: AnswerFacts): string => lifetimeOf(status, route.class).name;
const byPolicy = (facts: AnswerFacts): string => (policyOf(facts) === 'api' ? '' : 'download');

const EXPOSED =
  'ETag, Retry-After, RateLimit, RateLimit-Policy, Content-Range, Accept-Ranges, Age, Content-Disposition, Link';

const RULES: readonly HeaderRule[] = [
  {
    name: 'Access-Control-Allow-Origin',
    description: 'Any web page may read the answer.',
    example: () => '*',
    always: true,
  },
  {
    name: 'Access-Control-Expose-Headers',
    description: 'The headers that scripts of other origins may read.',
    example: () => EXPOSED,
    always: true,
  },
  {
    name: 'X-Content-Type-Options',
    description: 'The content is what Content-Type says.',
    example: () => 'nosniff',
    always: true,
  },
  {
    name: 'RateLimit-Policy',
    description:
      'The limit that the request counts against: q requests at once, w seconds until all are back. It comes back continuously.',
    example: (facts) => policyText(policyOf(facts), facts.limits[policyOf(facts)]),
    variant: byPolicy,
    always: true,
  },
  {
    name: 'RateLimit',
    description:
      'What is left: r requests, t seconds until there is one more. Only on answers that nobody may store, since caches would repeat it to others.',
    example: (facts) => {
      if (!isUncached(facts)) return undefined;
      const policy = policyOf(facts);
      return `"${policy}";r=0;t=${facts.limits[policy].refillSeconds}`;
    },
    variant: byPolicy,
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
    example: ({ status, route }) => lifetimeOf(status, route.class).cacheControl,
    variant: byLifetime,
    always: true,
  },
  {
    name: 'CDN-Cache-Control',
    description: 'How long a CDN may keep it (RFC 9213).',
    example: ({ status, route }) => lifetimeOf(status, route.class).cdn,
    variant: byLifetime,
    always: true,
  },
  {
    name: 'Link',
    description: 'Where the API is described (service-desc, service-doc), and the licence of the data.',
    example: ({ status, route }) =>
      isApi(route.class) && status !== 503
        ? '</api/v1/openapi.json>; rel="service-desc"; type="application/json"'
        : undefined,
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
    example: ({ status }) => (isShown(status) ? 'bytes' : undefined),
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
      isContent(status) && route.class === 'download'
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
    example: ({ status, route }) =>
      isShown(status) && route.class === 'page'
        ? "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        : undefined,
    always: true,
  },
  {
    name: 'Allow',
    description: 'The methods there are.',
    example: ({ status }) => (status === 405 ? 'GET, HEAD, OPTIONS' : undefined),
    always: true,
  },
];

/** Every header that an answer has or may have, beside Content-Type, Date and those of the connection. */
export const headersOf = (facts: AnswerFacts): readonly Header[] =>
  RULES.flatMap(({ example, variant, ...rule }) => {
    const value = example(facts);
    return value === undefined ? [] : [{ ...rule, example: value, variant: variant?.(facts) ?? '' }];
  });

/** Every header there is, for a table of them. */
export const HEADERS: readonly Pick<Header, 'name' | 'description' | 'always'>[] = RULES.map(
  ({ name, description, always }) => ({ name, description, always }),
);
