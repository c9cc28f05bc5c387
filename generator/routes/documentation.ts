/** The pages of the documentation, and which routes each page of the reference explains. */
import { RESOURCES, documentsOf } from '../schema/schema.js';
import { capitalized, withArticle } from '../schema/words.js';
import { ALIASES, ENDPOINTS, aliasRoute } from './endpoints.js';
import { IDS_REFERENCE, LOOKUP, NAMES_REFERENCE } from './lookup.js';
import { LISTS, LISTS_REFERENCE } from './lists.js';
import { PATHS } from './paths.js';

/** The parts of the documentation, in the order of its contents. */
export const PARTS = ['Start', 'Reference', 'Guides'] as const;

export interface DocumentationPage {
  /** The name of its route, and of its template in `templates/documentation/`. */
  readonly name: string;
  readonly path: string;
  readonly part: (typeof PARTS)[number];
  readonly title: string;
  readonly description: string;
  /** As for a route. */
  readonly measures?: readonly string[];
}

/** A page of the reference. */
export interface ReferencePage extends DocumentationPage {
  /** The names of the routes of each section: several if their documents have the same fields. */
  readonly sections: readonly (readonly string[])[];
}

/** What some routes depend on; undefined if one of them depends on nothing. */
function measuresOf(routes: readonly string[]): readonly string[] | undefined {
  const found = routes.map(
    (route) => [...ENDPOINTS, ...ALIASES, ...LISTS, ...LOOKUP].find(({ name }) => name === route)?.measures,
  );
  return found.includes(undefined) ? undefined : [...new Set(found.flatMap((measures) => measures ?? []))];
}

function reference(
  slug: string,
  title: string,
  description: string,
  sections: ReferencePage['sections'],
): ReferencePage {
  const measures = measuresOf(sections.flat());
  return {
    name: `reference-${slug}-page`,
    path: `${PATHS.docs}/reference/${slug}`,
    part: 'Reference',
    title,
    description,
    sections,
    ...(measures && { measures }),
  };
}

export const REFERENCE: readonly ReferencePage[] = [
  ...RESOURCES.map((resource) => {
    const documents = documentsOf(resource).map(({ route }) =>
      route === resource.record.route ? [route, aliasRoute(resource.kind)] : [route],
    );
    const one = capitalized(withArticle(resource.kind));
    const what = `${one}: its record${documents.length > 1 ? ' and its history' : ''}`;
    return reference(resource.plural, capitalized(resource.plural), what, documents);
  }),
  reference('register', 'Register', 'What there is, and totals of all of it', [['index'], ['stats']]),
  reference('lists', 'Lists', 'What stands out: the largest, who moved, what is new', LISTS_REFERENCE),
  reference('names', 'Names and owners', 'Records by a name or an owner', NAMES_REFERENCE),
  reference('ids', 'Ids', 'The ids of all records, and records by an id of the platform', IDS_REFERENCE),
  reference('publishing', 'Publishing', 'What is published, and what each snapshot changed', [
    ['snapshot'],
    ['changes'],
    ['openapi'],
    ['api-catalog'],
  ]),
];

const guide = (slug: string, title: string, description: string): DocumentationPage => ({
  name: `guide-${slug}-page`,
  path: `${PATHS.docs}/guides/${slug}`,
  part: 'Guides',
  title,
  description,
});

/** The pages of the documentation, in the order of its contents. */
export const DOCUMENTATION: readonly DocumentationPage[] = [
  {
    name: 'developers-page',
    path: PATHS.docs,
    part: 'Start',
    title: 'Documentation',
    description: 'The first request, a record explained, null, types and errors',
  },
  {
    name: 'explorer-page',
    path: `${PATHS.docs}/explorer`,
    part: 'Start',
    title: 'Explorer',
    description: 'Requests to try, with their responses',
  },
  ...REFERENCE,
  guide('limits', 'Limits and caching', 'How often to ask, what to keep, and which headers say so'),
  guide('finding', 'Finding records', 'From a name or an owner to records, and to all ids'),
  guide('copying', 'Keeping a copy', 'Copying everything, and following what changes'),
  guide('tools', 'Client, chart and badge', 'A typed client, a chart for any page, and numbers in a picture'),
  guide('terms', 'Terms', 'Attribution, and what stays compatible'),
];

/** The small index that the search field of the documentation reads. */
export const SEARCH_PATH = `${PATHS.docs}.json`;
