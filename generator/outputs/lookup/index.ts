/** The documents for finding records, in sections that threads render separately. */
import { NAMED, idsRoute, lookupRoute, ownersRoute } from '../../routes/lookup.js';
import type { Register } from '../../register/database.js';
import type { Overview } from '../../register/overview.js';
import { KINDS } from '../../schema/field.js';
import { game } from '../../schema/game.js';
import { group } from '../../schema/group.js';
import { RESOURCES } from '../../schema/index.js';
import type { ObjectShape } from '../../schema/shape.js';
import type { Output } from '../output.js';
import { digitsFor, shardedEntries } from './digits.js';
import { GUIDE_SHAPE } from './guide.js';
import { IDS_SHAPE, ids, idsPageShape } from './ids.js';
import { NAMES, names, namesShape } from './names.js';
import { owners, ownersShape } from './owners.js';

/** Some routes whose documents are rendered together. */
interface Section {
  /** The name of its main route. */
  readonly name: string;
  readonly routes: readonly string[];
  /** The tables that it reads. */
  readonly tables: readonly string[];
  /** @param digits the length of the prefixes; without meaning for ids */
  readonly documents: (register: Register, digits: number) => Generator<Output>;
}

const SECTIONS: readonly Section[] = [
  {
    name: 'ids',
    routes: ['ids', ...KINDS.map(idsRoute)],
    tables: RESOURCES.map(({ plural }) => plural),
    documents: ids,
  },
  ...NAMED.map((kind): Section => {
    const { resource, history } = NAMES[kind];
    return {
      name: lookupRoute(kind),
      routes: [lookupRoute(kind)],
      tables: [resource.plural, history.table],
      documents: (register, digits) => names(register, kind, digits),
    };
  }),
  ...NAMED.map((kind): Section => ({
    name: ownersRoute(kind),
    routes: [ownersRoute(kind)],
    tables: [...(kind === 'user' ? [group.plural] : []), game.plural],
    documents: (register, digits) => owners(register, kind, digits),
  })),
];

/** The routes of all sections. */
export const LOOKUP_ROUTES: readonly string[] = SECTIONS.flatMap(({ routes }) => routes);

/** @throws TypeError no section has the name */
export function sectionNamed(name: string): Section {
  const section = SECTIONS.find((candidate) => candidate.name === name);
  if (section === undefined) throw new TypeError(`no section is named "${name}"`);
  return section;
}

/** A section to render: values that the structured clone algorithm accepts. */
export interface DueSection {
  readonly section: string;
  readonly digits: number;
  /** About how many documents it has. */
  readonly expected: number;
}

/**
 * The sections whose documents may have changed.
 * @param changed the changed tables, if they are known and the build key is the same
 */
export function dueSections(overview: Overview, changed: ReadonlySet<string> | undefined): DueSection[] {
  const entries = shardedEntries(overview);
  return SECTIONS.flatMap(({ name, tables }) => {
    if (changed !== undefined && !tables.some((table) => changed.has(table))) return [];
    const its = entries.get(name);
    const digits = digitsFor(its ?? 0);
    return [{ section: name, digits, expected: its === undefined ? 1 : Math.min(its, 16 ** digits) }];
  });
}

/** The shapes of all documents for finding records. */
export const LOOKUP_SHAPES: readonly ObjectShape[] = [
  IDS_SHAPE,
  ...KINDS.map(idsPageShape),
  GUIDE_SHAPE,
  ...NAMED.map(namesShape),
  ...NAMED.map(ownersShape),
];
