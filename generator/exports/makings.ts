/** What the files of the exports are made of: where it is the same, and nothing changed in the register, so are they. */
import { EXPORT_FORMATS, exportRoute } from '../export-routes.js';
import type { Makings } from '../publish/inputs.js';
import type { Publisher } from '../publish/publisher.js';
import type { Register } from '../register/open.js';
import { placesOf } from '../register/published.js';
import { EXPORTS } from './tables.js';
import type { Export } from './tables.js';

/**
 * What the files of the exports are made of, beside what the documents say: by which code, since another may write the
 * same values in another way, and of which places in the histories, which no document tells.
 * @param changed the tables of the register in which something changed, where that is known: of the others, what was
 *   noted holds
 */
export function makings(
  register: Register,
  { reuse }: Publisher,
  code: string,
  changed?: ReadonlySet<string>,
): Makings {
  const making = (table: Export): string => {
    const { resource, history } = table;
    if (history === undefined) return code;
    const [noted, ...others] =
      changed?.has(table.name) === false ? routesOf(table).map((route) => reuse.noted(route)) : [];
    if (noted !== undefined && others.every((other) => other === noted)) return noted;
    return `${code} ${placesOf(register, resource, history)}`;
  };
  return new Map(
    EXPORTS.flatMap((table) => {
      const its = making(table);
      return routesOf(table).map((route) => [route, its] as const);
    }),
  );
}

const routesOf = ({ name }: Export): readonly string[] =>
  EXPORT_FORMATS.map(({ format }) => exportRoute(name, format));
