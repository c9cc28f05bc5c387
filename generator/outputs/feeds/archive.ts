/**
 * A feed's entries in the order of the readings, cut into the documents of its archive (RFC 5005, section 4): by
 * month, a crowded month in several parts. The entries of a published document are final, so that a client which has
 * it need not ask again: a part is published when it is full and more has come, and what is left of a month when
 * the month is over. What is in none yet is less than a document's worth, and stands in the current one.
 */
import { lastPart, numberedPart } from '../../routes/archive-keys.js';

/** Entries in a document: the current one has the newest so many, an archive document at most so many. */
export const DOCUMENT_ENTRIES = 200;

/** What becomes an entry: all that is asked here is which reading it comes from. */
interface Read {
  readonly measuredAt: string;
}

export interface Part<Entry extends Read> {
  readonly key: number;
  /** Oldest first. */
  readonly entries: readonly Entry[];
}

/** An archive document, and the keys of those beside it. */
export interface LinkedPart<Entry extends Read> extends Part<Entry> {
  readonly previous: number | undefined;
  readonly next: number | undefined;
}

/** What is left when all entries are seen. */
export interface Rest<Entry> {
  /** The newest entries, newest first. */
  readonly newest: readonly Entry[];
  /** The key of the newest archive document. */
  readonly last: number | undefined;
}

/**
 * @param dated entries in the order of the readings
 * @param openMonth the month of the register's newest reading, which is not over
 */
export function* archive<Entry extends Read>(
  dated: Iterable<Entry>,
  openMonth: string | undefined,
): Generator<LinkedPart<Entry>, Rest<Entry>, undefined> {
  const newest: Entry[] = [];
  let previous: number | undefined;
  let held: Part<Entry> | undefined;
  for (const part of parts(watched(dated, newest), openMonth)) {
    if (held !== undefined) yield { ...held, previous, next: part.key };
    previous = held?.key;
    held = part;
  }
  if (held !== undefined) yield { ...held, previous, next: undefined };
  return { newest: newestFirst(newest), last: held?.key };
}

/** The newest entries alone, newest first. */
export function newestOf<Entry>(dated: Iterable<Entry>): readonly Entry[] {
  const newest: Entry[] = [];
  // Seen only to have gone by.
  for (const _ of watched(dated, newest));
  return newestFirst(newest);
}

const newestFirst = <Entry>(newest: readonly Entry[]): readonly Entry[] =>
  newest.slice(-DOCUMENT_ENTRIES).toReversed();

/** The same entries; the newest of those that went by are in the list. */
function* watched<Entry>(dated: Iterable<Entry>, newest: Entry[]): Generator<Entry> {
  for (const each of dated) {
    newest.push(each);
    if (newest.length >= 2 * DOCUMENT_ENTRIES) newest.splice(0, DOCUMENT_ENTRIES);
    yield each;
  }
}

function* parts<Entry extends Read>(
  dated: Iterable<Entry>,
  openMonth: string | undefined,
): Generator<Part<Entry>> {
  let month = '';
  let number = 0;
  let entries: Entry[] = [];
  for (const each of dated) {
    const its = each.measuredAt.slice(0, 'YYYY-MM'.length);
    if (its !== month) {
      if (entries.length > 0) yield { key: lastPart(month), entries };
      [month, number, entries] = [its, 0, []];
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
