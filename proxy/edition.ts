import { DEFAULT_QUOTAS, type QuotaOverrides } from './config.js';
import { createHeaderTable, type HeaderTable, type Quotas } from './headers.js';
import type { Quota } from './limiter/gcra.js';
import { Resolutions } from './resolutions.js';
import { emptyTable } from './routes.js';
import type { Snapshot } from './snapshot.js';

/** What a snapshot means for answering, computed once when it comes into service. */
export interface Edition {
  /** Undefined before the first snapshot, when everything but OPTIONS and 405 is answered by 503. */
  readonly snapshot: Snapshot | undefined;
  readonly generation: number;
  /** What its routes make of request targets. */
  readonly resolutions: Resolutions;
  readonly quotas: Quotas;
  readonly headers: HeaderTable;
  /** URL of the page that explains the errors. */
  readonly documentation: string;
}

/** Where the errors are explained before a snapshot says it; relative, as no base URL is known. */
const DEFAULT_DOCUMENTATION = '/developers';

/** @param overrides limits set by flag or environment; they win over the snapshot's */
export function createEdition(
  snapshot: Snapshot | undefined,
  generation: number,
  overrides: QuotaOverrides,
): Edition {
  const quotas = quotasOf(snapshot, overrides);
  return {
    snapshot,
    generation,
    resolutions: new Resolutions(snapshot?.table ?? emptyTable()),
    quotas,
    headers: createHeaderTable(quotas, snapshot && linkOf(snapshot)),
    documentation: snapshot ? snapshot.service.base_url + snapshot.service.docs : DEFAULT_DOCUMENTATION,
  };
}

/** Each of the four numbers from where it is set first: by hand, in the snapshot, by default. */
export function quotasOf(snapshot: Snapshot | undefined, overrides: QuotaOverrides): Quotas {
  const published = snapshot && publishedQuotas(snapshot);
  return {
    api: { ...(published ?? DEFAULT_QUOTAS).api, ...overrides.api },
    download: { ...(published ?? DEFAULT_QUOTAS).download, ...overrides.download },
  };
}

/** The limits as the texts of this snapshot state them. */
export function publishedQuotas({ limits }: Snapshot): Quotas {
  return { api: quotaOf(limits.api), download: quotaOf(limits.download) };
}

function quotaOf({ tokens, refill_seconds: seconds }: Snapshot['limits']['api']): Quota {
  return { tokens, refillMs: Math.round(seconds * 1000) };
}

/** The route of the catalog of APIs, where the generator publishes one. */
const CATALOG = 'api-catalog';

/**
 * RFC 8288, with the relations of RFC 8631 (service-desc, service-doc) and RFC 4946 (license); RFC 9727 wants the
 * catalog named on the answer to HEAD of itself, which is one of the API.
 */
function linkOf({ service: { description, docs, licence }, routes }: Snapshot): string {
  const catalog = routes.find(({ name }) => name === CATALOG);
  return [
    `<${description}>; rel="service-desc"; type="application/json"`,
    `<${docs}>; rel="service-doc"; type="text/html"`,
    `<${licence.url}>; rel="license"`,
    ...(catalog === undefined ? [] : [`<${catalog.path}>; rel="${CATALOG}"`]),
  ].join(', ');
}
