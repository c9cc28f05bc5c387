/**
 * Cuts a feed's entries, in order of the readings, into archive documents (RFC 5005, section 4):
 * one per month, or several numbered parts. Published documents are final, so clients need not
 * fetch them again. A part is published when it is full and another entry follows; the rest of a
 * month, when the month is over. Until then entries are in the current document, which holds as
 * many.
 */
import { lastPart, numberedPart } from '../../routes/keys.js';

/** The current document has this many newest entries; an archive document has at most as many. */
export const DOCUMENT_ENTRIES = 200;

/** The source of an entry. Only the time of its reading matters here. */
interface Read {
  readonly measuredAt: string;
}

export interface ArchivePart<Entry extends Read> {
  readonly key: number;
  /** Oldest first. */
  readonly entries: readonly Entry[];
}

/** An archive document, and the keys of its neighbours. */
export interface LinkedPart<Entry extends Read> extends ArchivePart<Entry> {
  readonly previous: number | undefined;
  readonly next: number | undefined;
}

/** The result once all entries are read. */
export interface Rest<Entry> {
  /** The newest entries, newest first. */
  readonly newest: readonly Entry[];
  /** The key of the newest archive document. */
  readonly last: number | undefined;
}

/**
 * @param dated entries in order of the readings
 * @param openMonth the month of the register's newest measurement, which is not over
 * @param most if set, only that many of the newest archive documents
 */
export function* archive<Entry extends Read>(
  dated: Iterable<Entry>,
  openMonth: string | undefined,
  most?: number,
): Generator<LinkedPart<Entry>, Rest<Entry>, undefined> {
  const newest: Entry[] = [];
  const all = parts(collect(dated, newest), openMonth);
  let previous: number | undefined;
  let held: ArchivePart<Entry> | undefined;
  for (const part of most === undefined ? all : last(all, most)) {
    if (held !== undefined) yield { ...held, previous, next: part.key };
    previous = held?.key;
    held = part;
  }
  if (held !== undefined) yield { ...held, previous, next: undefined };
  return { newest: newest.slice(-DOCUMENT_ENTRIES).toReversed(), last: held?.key };
}

function* last<T>(all: Iterable<T>, most: number): Generator<T> {
  const found: T[] = [];
  for (const each of all) if (found.push(each) > most) found.shift();
  yield* found;
}

/** Passes entries through; `newest` collects the latest. */
function* collect<Entry>(dated: Iterable<Entry>, newest: Entry[]): Generator<Entry> {
  for (const each of dated) {
    newest.push(each);
    if (newest.length >= 2 * DOCUMENT_ENTRIES) newest.splice(0, DOCUMENT_ENTRIES);
    yield each;
  }
}

function* parts<Entry extends Read>(
  dated: Iterable<Entry>,
  openMonth: string | undefined,
): Generator<ArchivePart<Entry>> {
  let month = '';
  let number = 0;
  let entries: Entry[] = [];
  for (const each of dated) {
    const monthOfEntry = each.measuredAt.slice(0, 'YYYY-MM'.length);
    if (monthOfEntry !== month) {
      if (entries.length > 0) yield { key: lastPart(month), entries };
      [month, number, entries] = [monthOfEntry, 0, []];
    } else if (entries.length === DOCUMENT_ENTRIES) {
      number += 1;
      yield { key: numberedPart(month, number), entries };
      entries = [];
    }
    entries.push(each);
  }
  if (entries.length > 0 && openMonth !== undefined && month < openMonth)
    yield { key: lastPart(month), entries };
}
