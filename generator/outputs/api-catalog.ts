/** /.well-known/api-catalog: the only API, as a linkset (RFC 9264), according to RFC 9727. */
import type { Operator } from '../config/operator-file.js';
import { PATHS } from '../routes/paths.js';
import type { Output } from './output.js';
import { listed, part, shapeOfParts, value, valuesOf, type Part } from './parts.js';

interface Target {
  readonly href: string;
  readonly type?: string;
}
type Relation = 'item' | 'service-desc' | 'service-doc' | 'license';
type Links = { readonly anchor: string } & { readonly [Each in Relation]?: readonly Target[] };

const HREF = part<Target>(
  value('href', 'url', 'https://register.example/api/v1', 'Where the link leads.'),
  ({ href }) => href,
);
const TYPE = part<Target>(
  value('type', 'text', 'application/json', 'Media type of what is there.'),
  ({ type }) => type,
);

const links = (relation: Relation, description: string, target: readonly Part<Target>[]): Part<Links> =>
  listed<Links, Target>(relation, description, target, (of) => of[relation], { optional: true });

const PARTS: readonly Part<readonly Links[]>[] = [
  listed<readonly Links[], Links>(
    'linkset',
    'The links of the catalog, then those of the API.',
    [
      part(
        value('anchor', 'url', 'https://register.example/api/v1', 'What the links start from.'),
        ({ anchor }) => anchor,
      ),
      links('item', 'The API.', [HREF]),
      links('service-desc', 'Its description for programs.', [HREF, TYPE]),
      links('service-doc', 'Its documentation for people.', [HREF, TYPE]),
      links('license', 'The licence of its data.', [HREF]),
    ],
    (all) => all,
  ),
];

export const CATALOG_SHAPE = shapeOfParts(
  'api-catalog',
  'A linkset (RFC 9264) with links to the API, its description and its licence, as RFC 9727 asks for.',
  PARTS,
);

export function* apiCatalog({ baseUrl, licence }: Operator): Generator<Output> {
  const api = baseUrl + PATHS.base;
  const linkset = [
    { anchor: baseUrl + PATHS.catalog, item: [{ href: api }] },
    {
      anchor: api,
      'service-desc': [{ href: baseUrl + PATHS.description, type: 'application/json' }],
      'service-doc': [{ href: baseUrl + PATHS.docs, type: 'text/html' }],
      license: [{ href: licence.url }],
    },
  ];
  yield { route: 'api-catalog', key: 0, body: JSON.stringify(valuesOf(PARTS, linkset)) };
}
