/**
 * Which records of the blocks that changed are other than they were: with 1 % of all records changed at random, 15 %
 * are in a block with one. Of each record in a block that once changed, one SHA-256 over all its rows is kept.
 */
import { createHash } from 'node:crypto';
import type { Folders } from '../publish/inputs.js';
import { LedgerReader, LedgerWriter } from '../publish/ledger.js';
import { recordKey, tablesOf } from '../register/blocks.js';
import type { Register } from '../register/open.js';
import { name, rowsIn } from '../register/sql.js';
import type { IdRange } from '../register/sql.js';
import type { Kind, Resource } from '../resources/field.js';
import { RESOURCES } from '../resources/index.js';
import type { Table } from '../resources/index.js';
import { performed } from '../threads/turns.js';
import type { Turns } from '../threads/turns.js';

/** With more ranges than these for a kind, the blocks are taken whole: the list is held in memory. */
const MOST_RANGES = 64 * 1024;

/** What became of the changed blocks of some kinds. */
export interface Narrowed {
  /** The ids that changed, ascending within a kind. */
  readonly ranges: readonly IdRange[];
  /** The checksums of the files that were written, by file. */
  readonly sums: Readonly<Record<string, string>>;
}

/** The file with the hash of each record. */
const recordsFile = (kind: Kind): string => `records-${kind}`;

/** Looks into the changed blocks, which the scope `changed` speaks of, of those kinds that are this thread's. */
export function narrow(
  register: Register,
  { folders, turns }: { readonly folders: Folders; readonly turns: Turns },
): readonly Narrowed[] {
  return performed(turns, RESOURCES, (resource) => narrowKind(register, resource, folders));
}

function narrowKind(register: Register, resource: Resource, folders: Folders): Narrowed {
  const { kind } = resource;
  const file = recordsFile(kind);
  const old = folders.old === undefined ? undefined : LedgerReader.open(folders.old, file);
  const next = new LedgerWriter(folders.next, file, '');
  try {
    const hashes = hashed(register, resource);
    let found = hashes.next();
    const blocks = [...register.ranges('changed', kind)];
    const ids = new Ids(kind);
    for (const { low, high } of blocks) {
      old?.passBelow(low, next);
      const isKnown = (old?.peek()?.key ?? Number.POSITIVE_INFINITY) <= high;
      if (!isKnown) ids.add(low, high);
      for (; found.done !== true && found.value.id <= high; found = hashes.next()) {
        const { id, hash } = found.value;
        next.add({ key: id, bytes: 0, hash });
        if (isKnown && !isSame(old, id, hash, ids)) ids.add(id, id);
      }
      for (let gone = old?.peek(); gone !== undefined && gone.key <= high; gone = old?.peek()) {
        ids.add(gone.key, gone.key);
        old?.next();
      }
    }
    old?.passBelow(Number.POSITIVE_INFINITY, next);
    const ranges = ids.ranges.length > MOST_RANGES ? blocks.map((block) => ({ kind, ...block })) : ids.ranges;
    return { ranges, sums: { [file]: next.finish() } };
  } finally {
    old?.close();
    next.close();
  }
}

/** Whether a record's rows are what they were; records before it that are gone are added to the ids. */
function isSame(old: LedgerReader | undefined, id: number, hash: Buffer, ids: Ids): boolean {
  for (let gone = old?.peek(); gone !== undefined && gone.key < id; gone = old?.peek()) {
    ids.add(gone.key, gone.key);
    old?.next();
  }
  const known = old?.peek();
  if (known?.key !== id) return false;
  const same = hash.equals(known.hash);
  old?.next();
  return same;
}

/** Ids in ranges, as they come: ascending. */
class Ids {
  readonly ranges: IdRange[] = [];
  readonly #kind: Kind;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  add(low: number, high: number): void {
    const last = this.ranges.at(-1);
    if (last?.high === low - 1) this.ranges[this.ranges.length - 1] = { ...last, high };
    else this.ranges.push({ kind: this.#kind, low, high });
  }
}

type Row = readonly [id: number, row: Buffer];

/** Every record of the scope `changed`, ascending, and what is only in its histories, with a hash of all its rows. */
function* hashed(
  register: Register,
  resource: Resource,
): Generator<{ readonly id: number; readonly hash: Buffer }> {
  const cursors = tablesOf(resource).map((table) => register.rows<Row>(rowsQuery(resource.kind, table)));
  const heads = cursors.map((cursor) => cursor.next());
  for (;;) {
    const id = Math.min(
      ...heads.map(({ done, value }) => (done === true ? Number.POSITIVE_INFINITY : value[0])),
    );
    if (id === Number.POSITIVE_INFINITY) return;
    const digest = createHash('sha256');
    for (const [table, cursor] of cursors.entries()) {
      for (let head = heads[table]; head?.done === false && head.value[0] === id; head = heads[table]) {
        const [, row] = head.value;
        digest.update(`${table} ${row.length} `).update(row);
        heads[table] = cursor.next();
      }
    }
    yield { id, hash: digest.digest() };
  }
}

/** The rows of a table in the scope `changed`, in order of its key: whose each is, and all of it, as in blocks. */
function rowsQuery(kind: Kind, table: Table): string {
  const key = recordKey(table);
  const columns = table.columns.map((column) => name(column.name)).join(', ');
  return (
    `SELECT ${name(key)}, CAST(json_array(${columns}) AS BLOB) FROM ${rowsIn('changed', kind, table.name, key)}` +
    ` ORDER BY ${['_low', ...table.key.map((column) => name(column.name))].join(', ')}`
  );
}
