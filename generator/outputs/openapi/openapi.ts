/** /api/v1/openapi.json: OpenAPI 3.1, from the declarations alone, so that it changes only with the API. */
import type { SiteConfig } from '../../config/config.js';
import { emailIn, type Operator } from '../../config/operator-file.js';
import { API_VERSION, PATHS } from '../../routes/paths.js';
import { isDescribed } from '../../routes/routes.js';
import type { Route } from '../../routes/route.js';
import { measuredKinds, type Measured } from '../../schema/measured.js';
import type { Output } from '../output.js';
import { columnsOf } from './columns.js';
import { Components } from './components.js';
import { DOCUMENTS } from './documents.js';
import { introduction } from './introduction.js';
import { REQUEST_HEADERS, TAGS, operationOf, tagOf } from './operations.js';
import { PROBLEM_SHAPE } from './problems.js';
import { Schemas, type Schema } from './schemas.js';

function contactOf({ name, contact }: Operator): Schema {
  const email = emailIn(contact);
  return email === undefined ? { name, url: contact } : { name, email };
}

export function* openapi(config: SiteConfig, table: readonly Route[], measured: Measured): Generator<Output> {
  const { operator } = config;
  const components = new Components(config);
  const described = table.filter(isDescribed);
  const isThere = (name: string): boolean => described.some((route) => route.name === name);
  const shapes = DOCUMENTS.filter(({ name }) => isThere(name));
  const paths = Object.fromEntries(
    described.map((route) => [
      route.path,
      { get: { ...operationOf(route, components, isThere), ...columnsOf(route.name, measured) } },
    ]),
  );
  const tags = TAGS.filter(({ name }) => described.some((route) => tagOf(route) === name));
  const body = JSON.stringify({
    openapi: '3.1.1',
    info: {
      title: `${operator.name} API`,
      version: String(API_VERSION),
      summary: `Measured records of ${operator.platform}. Free, read-only, no API key.`,
      description: introduction(config, measured),
      contact: contactOf(operator),
      license: operator.licence,
    },
    externalDocs: { description: 'Documentation for developers', url: operator.baseUrl + PATHS.docs },
    servers: [{ url: operator.baseUrl }],
    // No key is required.
    security: [],
    tags: tags.map(({ name, description }) => ({ name, description: description(measuredKinds(measured)) })),
    paths,
    components: {
      schemas: new Schemas([...shapes, PROBLEM_SHAPE], operator.priceUnit).components,
      ...components.registered,
      parameters: REQUEST_HEADERS,
    },
  });
  yield { route: 'openapi', key: 0, body };
}
