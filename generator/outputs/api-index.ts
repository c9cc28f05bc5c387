/** /api/v1: the machine-readable index, generated from the route table. */
import type { BuildConfig, Limit } from '../config.js';
import { PATHS } from '../routes.js';
import type { Route } from '../routes.js';
import type { Output } from './output.js';

/** The version of the API, which the base path repeats. */
const API_VERSION = 1;

const amount = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;

function interval(seconds: number): string {
  if (seconds === 1) return 'per second';
  return seconds === 60 ? 'per minute' : `every ${seconds} seconds`;
}

/** A bucket in words. A full bucket that takes a minute to fill is known as that many requests per minute. */
function limitText({ tokens, refillSeconds }: Limit, thing: string): string {
  const span = tokens * refillSeconds === 60 ? 'per minute' : 'at once';
  return (
    `${amount(tokens, thing)} ${span} per IP address,` +
    ` refilled continuously at about 1 ${thing} ${interval(refillSeconds)}`
  );
}

export function* apiIndex({ operator, limits }: BuildConfig, table: readonly Route[]): Generator<Output> {
  const { name, url, licence, platform } = operator;
  const body = JSON.stringify({
    name,
    version: API_VERSION,
    base: PATHS.base,
    licence:
      `Free to reuse under ${licence.name} (${licence.url}). Credit ${name} with a link to ${url}.` +
      ` Not affiliated with ${platform}.`,
    rate_limit: `${limitText(limits.api, 'request')}. Bulk downloads: ${limitText(limits.download, 'download')}.`,
    docs: PATHS.docs,
    endpoints: table
      .filter(({ listed }) => listed)
      .map(({ path, description, parameters }) => ({
        method: 'GET',
        path,
        description,
        ...(parameters === undefined ? {} : { parameters }),
      })),
    bulk: PATHS.bulk,
    feeds: PATHS.feeds,
  });
  yield { route: 'index', key: 0, body };
}
