/** The data for the explorer, which requests everything else from the API. */
import { REFERENCE } from '../../../routes/documentation.js';
import { routeNamed } from '../../../routes/routes.js';
import { RESOURCES, documentsOf } from '../../../schema/schema.js';
import type { Explorable } from '../page-data.js';
import { dataBlock } from '../render.js';
import { exampleUrl, type Documented } from './reference.js';

/** The value of a path or query parameter in a URL of its route. */
function valueIn(url: string, path: string): string {
  const [before = '', after = ''] = path.split(/\{\w+\}/);
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const [value] = searchParams.values();
  return value ?? pathname.slice(before.length, pathname.length - after.length);
}

function explorable(name: string, part: string, documented: Documented): Explorable[] {
  const { table, overview, inWords, isThere } = documented;
  if (!isThere(name)) return [];
  const route = routeNamed(table, name);
  const url = exampleUrl(route, documented);
  if (url === undefined) return [];
  const { path, parameters = [] } = route;
  const description = inWords(route.description);
  const [parameter] = parameters;
  const resource = RESOURCES.find((each) => documentsOf(each).some((document) => document.route === name));
  const history =
    resource?.histories.some(({ name, table }) => name === 'members' && overview.measured.has(table)) &&
    resource.history?.route;
  const page = resource && table.find((each) => each.name === `${resource.kind}-page`)?.path;
  return [
    {
      name,
      path,
      description,
      part,
      ...(parameter && {
        parameter: {
          ...parameter,
          description: inWords(parameter.description),
          example: valueIn(url, path),
        },
      }),
      ...(history && { history: routeNamed(table, history).path }),
      ...(page && { page }),
    },
  ];
}

/** Every JSON document that has an example. */
export const explorerPage = (documented: Documented) => ({
  data: dataBlock(
    REFERENCE.flatMap(({ title, sections }) =>
      sections.flat().flatMap((name) => explorable(name, documented.inWords(title), documented)),
    ),
  ),
});
