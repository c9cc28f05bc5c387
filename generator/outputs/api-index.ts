/** /api/v1: the machine-readable index, generated from the route table. */
import type { SiteConfig, Limits } from '../config/config.js';
import type { Operator, Limit } from '../config/operator-file.js';
import { API_VERSION, PATHS } from '../routes/paths.js';
import { endpointsIn } from '../routes/routes.js';
import type { Route } from '../routes/route.js';
import { termsText } from './licence.js';
import type { Output } from './output.js';
import { PARAMETERS } from './parameters.js';
import { listed, part, shapeOfParts, value, valuesOf, type Part } from './parts.js';

const amount = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;

/** `1 request per second`, `4 requests per second`, `1 request every 1.5 seconds`. */
function rate(seconds: number, thing: string): string {
  const milliseconds = Math.round(seconds * 1000);
  if (1000 % milliseconds === 0) return `${amount(1000 / milliseconds, thing)} per second`;
  return `1 ${thing} ${seconds === 60 ? 'per minute' : `every ${seconds} seconds`}`;
}

/** A bucket in words. One of whole seconds that is refilled within a minute is "per minute". */
function limitText({ tokens, refillSeconds }: Limit, thing: string): string {
  const span = refillSeconds >= 1 && tokens * refillSeconds === 60 ? 'per minute' : 'at once';
  return `${amount(tokens, thing)} ${span} per IP address, refilled continuously at about ${rate(refillSeconds, thing)}`;
}

/** The terms of reuse, in words. */
export const licenceText = (operator: Operator): string =>
  `${termsText(operator)} Not affiliated with ${operator.platform}.`;

/** The limits of API clients, in words. */
export const rateLimitText = ({ api, download }: Limits): string =>
  `${limitText(api, 'request')}. Bulk downloads: ${limitText(download, 'download')}.`;

/** The limit of browsers, in words. */
export const pageLimitText = ({ page }: Limits): string =>
  `Pages and their assets: ${limitText(page, 'request')}.`;

interface IndexFacts {
  readonly config: SiteConfig;
  readonly table: readonly Route[];
}

const ENDPOINT: readonly Part<Route>[] = [
  part(value('method', 'enum', 'GET', 'Always GET.', { values: ['GET'] }), () => 'GET'),
  part(
    value('path', 'text', '/api/v1/group/{id}', 'Path, with its parameters in braces.'),
    ({ path }) => path,
  ),
  part(
    value('description', 'text', 'Measured record of one group', 'What it returns.'),
    ({ description }) => description,
  ),
  PARAMETERS,
];

const PARTS: readonly Part<IndexFacts>[] = [
  part(
    value('name', 'text', 'The Example Register', 'Name of the register.'),
    ({ config }) => config.operator.name,
  ),
  part(
    value('version', 'ordinal', API_VERSION, 'Version of the API, also part of the base path.'),
    () => API_VERSION,
  ),
  part(value('base', 'path', PATHS.base, 'Prefix of the paths of the API.'), () => PATHS.base),
  part(
    value(
      'licence',
      'text',
      'Free to reuse under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/).',
      'How the data may be used and whom to credit.',
    ),
    ({ config }) => licenceText(config.operator),
  ),
  part(
    value(
      'rate_limit',
      'text',
      '60 requests per minute per IP address, refilled continuously at about 1 request per second.',
      'Rate limits for each client.',
    ),
    ({ config }) => rateLimitText(config.limits),
  ),
  part(value('docs', 'path', PATHS.docs, 'Path of the documentation page for developers.'), () => PATHS.docs),
  listed(
    'endpoints',
    'Every endpoint that returns JSON. The OpenAPI description, to which the header Link leads (service-desc), says what each returns.',
    ENDPOINT,
    ({ table }) => endpointsIn(table),
  ),
  part(value('bulk', 'path', PATHS.bulk, 'Path of the bulk downloads.'), () => PATHS.bulk),
  part(value('feeds', 'path', PATHS.feeds, 'Path of the feeds.'), () => PATHS.feeds),
];

export const INDEX_SHAPE = shapeOfParts('index', 'The API, its terms and its endpoints.', PARTS);

export function* apiIndex(config: SiteConfig, table: readonly Route[]): Generator<Output> {
  yield { route: 'index', key: 0, body: JSON.stringify(valuesOf(PARTS, { config, table })) };
}
