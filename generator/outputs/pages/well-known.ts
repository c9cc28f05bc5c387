/** The well-known files: the security contact, robots.txt, the sitemap. */
import type { Operator } from '../../config/operator-file.js';
import { isMeasured, routeNamed } from '../../routes/routes.js';
import { halves, type Route } from '../../routes/route.js';
import { PATHS } from '../../routes/paths.js';
import { recordPage } from '../../routes/pages.js';
import { KINDS } from '../../schema/field.js';
import { timeAt } from '../../schema/time.js';
import type { Measured } from '../../schema/measured.js';
import { isOfError } from '../openapi/problems.js';
import { render } from './render.js';

/**
 * The security contact (RFC 9116). It must expire, and section 2.5.5 advises within a year: it does so a
 * year after the month of the build began, so it is valid when it is published, whatever was measured,
 * and changes once a month.
 */
export function securityText({ baseUrl, contact }: Operator, table: readonly Route[], now: Date): string {
  const expires = timeAt(Date.UTC(now.getUTCFullYear() + 1, now.getUTCMonth()));
  return [
    `Contact: ${contact}`,
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}${routeNamed(table, 'security-contact').path}`,
    '',
  ].join('\n');
}

/** Crawlers may index the pages, but not millions of records, which are in the downloads. */
export function robots({ baseUrl }: Operator, table: readonly Route[], measured: Measured): string {
  const documents = ['group', 'user', 'game', 'item', 'group-history', 'user-usernames'];
  const prefixes = [...documents, ...KINDS.map(recordPage)]
    .map((name) => routeNamed(table, name))
    .flatMap((route) => (isMeasured(route, measured) ? halves(route.path)[0] : []));
  return [
    'User-agent: *',
    ...[...new Set(prefixes)].map((prefix) => `Disallow: ${prefix}`),
    `Disallow: ${PATHS.bulk}/`,
    `Sitemap: ${baseUrl}${routeNamed(table, 'sitemap').path}`,
    '',
  ].join('\n');
}

/**
 * The addresses of the pages about the register (sitemaps.org), not of its records. Without times of
 * changes: a page may change with every snapshot.
 */
export function sitemap({ baseUrl }: Operator, table: readonly Route[], measured: Measured): string {
  const pages = table.filter(
    (route) =>
      route.type.startsWith('text/html') &&
      route.parameters === undefined &&
      !isOfError(route) &&
      isMeasured(route, measured),
  );
  return render('sitemap', { urls: pages.map(({ path }) => baseUrl + path) });
}
