/** The register as a schema.org Dataset, for search engines. */
import type { Operator } from '../../config/operator-file.js';
import { firstMeasurement, type Overview } from '../../register/overview.js';
import { isDownload } from '../../routes/exports.js';
import { PATHS } from '../../routes/paths.js';
import type { Route } from '../../routes/route.js';
import { isMeasured } from '../../routes/routes.js';
import { enumeratedKinds, measuredKinds } from '../../schema/measured.js';
import { wordsIn } from '../../schema/words.js';

/** Dates are those of the register, as in the API; the downloads may be older. */
export function dataset(
  operator: Operator,
  { asOf, populations, measured }: Overview,
  table: readonly Route[],
) {
  const { name, url, baseUrl, platform, licence } = operator;
  const first = firstMeasurement(populations);
  const kinds = wordsIn(operator)(enumeratedKinds(measuredKinds(measured)));
  const hasHistories = populations.some(({ histories }) =>
    histories.some(({ history }) => measured.has(history.table)),
  );
  const publisher = { '@type': 'Organization', name, url };
  return {
    '@context': 'https://schema.org/',
    '@type': 'Dataset',
    name,
    description:
      `Measured records of ${kinds} on ${platform}${hasHistories ? ', with their histories' : ''}.` +
      ' Every value was measured; none is estimated. A value that was not measured, or that is withheld, is null.',
    url: `${baseUrl}/`,
    sameAs: url === baseUrl ? undefined : url,
    license: licence.url,
    isAccessibleForFree: true,
    creator: publisher,
    publisher,
    dateModified: asOf ?? undefined,
    temporalCoverage: asOf === null || first === null ? undefined : `${first}/${asOf}`,
    measurementTechnique: 'Repeated measurements of public values. Each change is bounded by two readings.',
    variableMeasured: populations.flatMap(({ resource, totals }) =>
      totals.flatMap(({ column }) =>
        measured.has(`${resource.plural}.${column}`) ? `${column} of ${resource.plural}` : [],
      ),
    ),
    distribution: [
      {
        '@type': 'DataDownload',
        name: 'JSON API',
        encodingFormat: 'application/json',
        contentUrl: baseUrl + PATHS.base,
      },
      ...table
        .filter((route) => isDownload(route) && isMeasured(route, measured))
        .map(({ path, description, type }) => ({
          '@type': 'DataDownload',
          name: path.slice(PATHS.bulk.length + 1),
          description,
          encodingFormat: type,
          contentUrl: baseUrl + path,
        })),
    ],
  };
}
