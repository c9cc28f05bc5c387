/** What is found by its well-known name: the catalog of the API, whom to tell of security problems, robots.txt. */
import type { Operator } from '../../config.js';
import { PATHS, halves, routeNamed } from '../../routes/index.js';
import type { Route } from '../../routes/index.js';

/** A linkset (RFC 9264) of the one API there is, by RFC 9727. */
export function apiCatalog({ baseUrl, licence }: Operator, table: readonly Route[]): string {
  const api = baseUrl + PATHS.base;
  return JSON.stringify({
    linkset: [
      { anchor: baseUrl + routeNamed(table, 'api-catalog').path, item: [{ href: api }] },
      {
        anchor: api,
        'service-desc': [{ href: baseUrl + PATHS.description, type: 'application/json' }],
        'service-doc': [{ href: baseUrl + PATHS.docs, type: 'text/html' }],
        license: [{ href: licence.url }],
      },
    ],
  });
}

/** A contact is believed for so long after the newest measurement: 180 days. RFC 9116 advises less than a year. */
const CONTACT_DAYS = 180;
const DAY_MS = 86_400_000;

/**
 * RFC 9116. It must expire, and nothing here knows the time: so it does some time after the newest measurement,
 * which a register in use keeps renewing.
 */
export function securityText({ baseUrl, contact }: Operator, table: readonly Route[], asOf: string): string {
  const expires = new Date(Date.parse(asOf) + CONTACT_DAYS * DAY_MS).toISOString().replace('.000Z', 'Z');
  return [
    `Contact: ${contact}`,
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}${routeNamed(table, 'security-contact').path}`,
    '',
  ].join('\n');
}

/** Crawlers index the pages; millions of records would only use up their welcome, and are in the downloads. */
export function robots(table: readonly Route[]): string {
  const prefixes = ['group', 'user', 'game', 'item', 'group-history', 'user-usernames'].map(
    (name) => halves(routeNamed(table, name).path)[0],
  );
  return [
    'User-agent: *',
    ...[...new Set(prefixes)].map((prefix) => `Disallow: ${prefix}`),
    `Disallow: ${PATHS.bulk}/`,
    '',
  ].join('\n');
}
