/** /embed.js: an element for pages of others, `<register-chart group="45">`, which `assets/embed.ts` draws. */
import { EMBED, embedScript } from '../../base/assets.js';
import type { Operator } from '../../config/operator-file.js';
import type { Route } from '../../routes/route.js';
import { measuredDocuments, routeNamed } from '../../routes/routes.js';
import { recordPage } from '../../routes/pages.js';
import { shapeOf, type Resource } from '../../schema/field.js';
import { measuredFields, measuredKinds, type Measured } from '../../schema/measured.js';
import type { ValueShape } from '../../schema/shape.js';
import { allWords, wordsIn } from '../../schema/words.js';
import type { EmbeddedKind, EmbeddedRegister } from './page-data.js';

/** The script, which ends by being told what this register is. */
export function embed(operator: Operator, table: readonly Route[], measured: Measured): string {
  const { name, licence } = operator;
  const kinds = Object.fromEntries(
    measuredKinds(measured).map((resource) => [resource.kind, kindOf(resource, operator, table, measured)]),
  );
  const register: EmbeddedRegister = { name, licence, kinds };
  // The script is a module: `import.meta` has its URL, wherever the tree is served.
  return `${embedScript().toString()}${EMBED.object}.define(${JSON.stringify(register)}, import.meta.url);\n`;
}

/** What the element can show of a kind, and where that is. */
function kindOf(
  resource: Resource,
  operator: Operator,
  table: readonly Route[],
  measured: Measured,
): EmbeddedKind {
  const { kind, record } = resource;
  const pathOf = (route: string): string => routeNamed(table, route).path;
  const inWords = wordsIn(operator);
  const history = measuredDocuments(resource, measured).find((document) => document === resource.history);
  return {
    one: allWords(operator.words)[kind].one,
    page: pathOf(recordPage(kind)),
    record: pathOf(record.route),
    ...(history === undefined ? {} : { history: pathOf(history.route) }),
    lists: listsOf(resource, measured),
    counts: countsOf(resource, measured).map((count) => ({
      name: count.name,
      unit: count.unit && inWords(count.unit),
    })),
  };
}

/** The lists of a kind's history. */
function listsOf(resource: Resource, measured: Measured): readonly string[] {
  if (resource.history === undefined) return [];
  return measuredFields(resource, measured, resource.history).flatMap((field) =>
    field.is === 'list' ? [field.name] : [],
  );
}

const countsOf = (resource: Resource, measured: Measured): readonly ValueShape[] =>
  measuredFields(resource, measured).flatMap((field) => {
    const shape = shapeOf(field, resource.histories);
    return shape.is === 'value' && shape.type === 'count' ? [shape] : [];
  });

/** What `value` of the element may be, for a kind. */
export const embeddedValues = (resource: Resource, measured: Measured): readonly string[] => [
  ...listsOf(resource, measured),
  ...countsOf(resource, measured).map(({ name }) => name),
];
