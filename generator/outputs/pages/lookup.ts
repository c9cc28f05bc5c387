/** The field that finds records: what it takes, for its script and for those who have none. */
import { routeNamed } from '../../routes/routes.js';
import type { Route } from '../../routes/route.js';
import { platformIdRoute } from '../../routes/lookup.js';
import type { Overview } from '../../register/overview.js';
import { shellRoute } from '../../routes/pages.js';
import type { Kind } from '../../schema/field.js';
import { enumerated, measuredKinds } from '../../schema/measured.js';
import { allWords, withArticle, type Words } from '../../schema/words.js';
import { hasFormer, namedOf } from './finders.js';
import type { LookupField } from './page-data.js';

/**
 * @param firstKey the first key of a route's documents
 * @param preferred the kind of the id in the hint
 */
export function lookupField(
  { populations, measured }: Overview,
  table: readonly Route[],
  words: Words | undefined,
  firstKey: (route: string) => number | undefined,
  preferred?: Kind,
): LookupField {
  const called = allWords(words);
  const known = populations.filter(({ records }) => records > 0).map(({ resource }) => resource);
  const kinds = (known.length > 0 ? known : measuredKinds(measured)).map(({ kind }) => kind);
  const named = namedOf(kinds, measured);
  const identified = kinds.filter((kind) => firstKey(platformIdRoute(kind)) !== undefined);
  const [first = 'group'] = preferred === undefined ? kinds : [preferred];
  const id = firstKey(first);
  const isFormerFound = named.some((kind) => hasFormer(kind, measured));
  const names = enumerated(
    named.map((kind) => called[kind].one),
    'or',
  );
  return {
    action: routeNamed(table, shellRoute(kinds[0] ?? 'group')).path,
    kinds: kinds.map((kind) => ({ kind, ...called[kind] })),
    named,
    identified,
    hasFormer: isFormerFound,
    label: named.length > 0 ? 'Id, address or name' : 'Id or address',
    hint: [
      id === undefined ? 'An id' : `An id such as ${id}`,
      ...(identified.length > 0 ? ['the platform’s own id'] : []),
      ...(named.length > 0
        ? [
            'any address that contains it',
            `or the name of ${withArticle(names)}${isFormerFound ? ', today’s or a former one' : ''}`,
          ]
        : ['or any address that contains it']),
    ]
      .join(', ')
      .concat('.'),
  };
}
