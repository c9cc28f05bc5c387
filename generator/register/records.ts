/** Every record and its history: an ordered pass over the records, merged with one per history. */
import {
  platformId,
  type DerivedField,
  type Document,
  type ListField,
  type Resource,
} from '../schema/field.js';
import { isPlainId } from '../routes/keys.js';
import { measuredDocuments } from '../routes/routes.js';
import type { Register } from './database.js';
import { HistoryCursor, NO_ENTRIES, type ListedEntries } from './history-cursor.js';
import { exclusion, historyQuery, name, objectOf, recordsQuery, type PlainField, type Scope } from './sql.js';

/** A document of a record. */
interface RecordDocument {
  readonly route: string;
  /** The record's id. */
  readonly key: number;
  readonly body: string;
  /** Its id on the platform, if there is a path by it. */
  readonly alias?: string;
}

/** A part of a document: the column of a JSON object, or a field computed from a history. */
type Piece = { readonly column: number } | { readonly gap: ListField | DerivedField };

/** The documents of a kind's published records, ordered by id. */
export function* records(
  register: Register,
  resource: Resource,
  scope: Scope = 'all',
): Generator<RecordDocument> {
  const columns: string[] = ['id', aliasColumn(register, resource)];
  const documents = measuredDocuments(resource, register.measured);
  const isThere = (route: string): boolean => documents.some((document) => document.route === route);
  const plans = documents.map((document) => plan(document, columns, isThere));
  const cursors = new Map<string, HistoryCursor>();
  try {
    for (const history of resource.histories) {
      if (!register.measured.has(history.table)) continue;
      cursors.set(history.name, new HistoryCursor(register, historyQuery(resource.kind, history, scope)));
    }
    const rows = register.rows<readonly (number | string | null)[]>(recordsQuery(resource, columns, scope));
    for (const row of rows) {
      const key = Number(row[0]);
      const entries = new Map<string, ListedEntries>();
      for (const [history, cursor] of cursors) entries.set(history, cursor.entriesOf(key));
      const alias = typeof row[1] === 'string' && isPlainId(row[1]) ? row[1] : undefined;
      for (const { route, pieces } of plans) {
        const document = { route, key, body: assemble(pieces, row, entries) };
        yield alias !== undefined && route === resource.record.route ? { ...document, alias } : document;
      }
    }
  } finally {
    for (const cursor of cursors.values()) cursor.close();
  }
}

/** SQL for the id on the platform, unless it differs from another by case alone. */
function aliasColumn({ measured }: Register, { kind, plural }: Resource): string {
  const { name: column } = platformId.column;
  if (!measured.has(`${plural}.${column}`)) return 'NULL';
  return `CASE WHEN id IN ${exclusion('clashing', kind)} THEN NULL ELSE ${name(column)} END`;
}

/** Splits a document into maximal runs of plain fields, each a column, and the fields between them. */
function plan(
  { route, fields }: Document,
  columns: string[],
  isThere: (route: string) => boolean,
): { route: string; pieces: readonly Piece[] } {
  const pieces: Piece[] = [];
  let run: PlainField[] = [];
  const close = (): void => {
    if (run.length > 0) pieces.push({ column: columns.push(objectOf(run, isThere)) - 1 });
    run = [];
  };
  for (const field of fields) {
    if (field.is === 'list' || field.is === 'derived') {
      close();
      pieces.push({ gap: field });
    } else run.push(field);
  }
  close();
  return { route, pieces };
}

function assemble(
  pieces: readonly Piece[],
  row: readonly (number | string | null)[],
  entries: ReadonlyMap<string, ListedEntries>,
): string {
  // The whole document is a single column.
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined && 'column' in only) return String(row[only.column]);
  const members = pieces.map((piece) => {
    if ('column' in piece) return String(row[piece.column]).slice(1, -1);
    const { gap } = piece;
    const own = entries.get(gap.history);
    return `${JSON.stringify(gap.name)}:${gap.is === 'list' ? (own?.json ?? 'null') : JSON.stringify(gap.compute(own ?? NO_ENTRIES))}`;
  });
  return `{${members.join(',')}}`;
}
