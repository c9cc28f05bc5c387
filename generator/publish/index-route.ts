/** Writes the next index of a route, and its part of the change list and the operator's lists. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { applyPatches } from '../tree/patch.js';
import { entriesIn } from '../tree/hash-file.js';
import type { Entry } from '../tree/hash-file.js';
import { filler, urlTemplate } from '../routes/index.js';
import type { Put } from './changes/bundle-line.js';
import { namesOf, siblingsFrom } from '../tree/codings.js';
import { digestLine, summarise } from '../tree/digest.js';
import type { RouteSummary } from '../tree/digest.js';
import { ListWriter } from './stage.js';
import type { PublishedRoute } from '../tree/published-routes.js';

/** Numbers of documents. */
export interface Changes {
  added: number;
  changed: number;
  removed: number;
  unchanged: number;
}

export function totalOf(all: Iterable<Readonly<Changes>>): Readonly<Changes> {
  const total = { added: 0, changed: 0, removed: 0, unchanged: 0 };
  for (const changes of all)
    for (const what of ['added', 'changed', 'removed', 'unchanged'] as const) total[what] += changes[what];
  return total;
}

/** What may replace the documents of a route that the next snapshot no longer has. */
export interface Former {
  /** A route with the same URLs. */
  readonly successor: PublishedRoute | undefined;
  /** Whether the files stay, as a former asset. */
  readonly stays: boolean;
}

export interface Indexing {
  readonly route: PublishedRoute;
  /** The paths of pages that are there only along with a document. */
  readonly pages: readonly string[];
  /** The route's index in the previous snapshot, if any. */
  readonly old: string | undefined;
  readonly patches: readonly string[];
  /** Where the next index is written. */
  readonly next: string;
  /** The folders of the stage that hold the lists and new files. */
  readonly lists: string;
  readonly added: string;
  /** Set for a route that the next snapshot no longer has. */
  readonly former: Former | undefined;
  /** Whether the changes are listed. */
  readonly hasChanges: boolean;
  /** The size from which the previous snapshot's documents have compressed siblings. */
  readonly compressedFrom: number;
  /** The keys of withheld records, if the route has a document for each record. */
  readonly withheld: ReadonlySet<number>;
}

export interface IndexedRoute extends RouteSummary {
  readonly changes: Readonly<Changes>;
  /** Removed documents whose record is withheld. */
  readonly withheld: number;
  /** Number of files in new or changed documents, including compressed siblings. */
  readonly placed: number;
  /** The checksum of the index. */
  readonly sum: string;
}

export function indexRoute({
  route,
  pages,
  old: oldIndex,
  patches,
  next,
  lists: folder,
  added,
  former,
  hasChanges,
  compressedFrom,
  withheld: withheldKeys,
}: Indexing): IndexedRoute {
  const lists = new ListWriter(folder, route.name);
  const file = filler(route.file);
  const urls = urlsOf(route);
  const pageUrls = pages.map(filler);
  const [from, oldFrom] = [siblingsFrom(route), siblingsFrom(route, compressedFrom)];
  const counts = { added: 0, changed: 0, removed: 0 };
  const isStaged = (name: string): boolean => former !== undefined && existsSync(join(added, name));
  const successorFile = filler(former?.successor?.file ?? '');
  const isSucceeded = (key: number): boolean =>
    former?.successor !== undefined && isStaged(successorFile(key));
  const areVariants = isVariant(route);
  let [withheld, placed] = [0, 0];
  const note = (entry: Entry | undefined, old: Entry | undefined): void => {
    const { key } = entry ?? old ?? { key: 0 };
    const [url, ...others] = urls(key);
    const files: readonly string[] = entry === undefined ? [] : namesOf(file(key), entry.bytes, from);
    const oldFiles = old === undefined ? [] : namesOf(file(key), old.bytes, oldFrom);
    for (const each of files) lists.file(each);
    if (former?.stays !== true) {
      for (const each of oldFiles) if (!files.includes(each) && !isStaged(each)) lists.remove(each);
      for (const each of [url, ...others]) lists.url(each);
    }
    if (entry === undefined || old === undefined) for (const pageUrl of pageUrls) lists.url(pageUrl(key));
    placed += files.length;
    counts[old === undefined ? 'added' : entry === undefined ? 'removed' : 'changed'] += 1;
    if (entry === undefined) {
      if (withheldKeys.has(key)) withheld += 1;
      if (!isSucceeded(key)) lists.delete(url);
      return;
    }
    if (hasChanges && !areVariants)
      lists.put({ path: url, sha256: entry.hash.toString('hex'), bytes: entry.bytes });
  };
  try {
    const sum = applyPatches(oldIndex, patches, next, note);
    if (areVariants && hasChanges && counts.added + counts.changed > 0) lists.put(variantsEntry(next, route));
    const summary = summarise(next, route);
    lists.finish();
    const unchanged = summary.documents - counts.added - counts.changed;
    return { ...summary, changes: { ...counts, unchanged }, withheld, placed, sum };
  } finally {
    lists.close();
  }
}

/** Whether a route's documents are variants of one, by a query parameter. */
const isVariant = ({ parameters = [] }: PublishedRoute): boolean =>
  parameters.some((parameter) => parameter.in === 'query');

/** All variants as one entry of a change list: the checksum is over their lines of the digest. */
function variantsEntry(index: string, route: PublishedRoute): Put & { readonly documents: number } {
  const [template, digest] = [urlTemplate(route), createHash('sha256')];
  const url = filler(template);
  let [documents, bytes] = [0, 0];
  for (const entry of entriesIn(index)) {
    digest.update(digestLine(entry, url));
    documents += 1;
    bytes += entry.bytes;
  }
  return { path: template, documents, sha256: digest.digest('hex'), bytes };
}

/** The URL path of a document, and its alias if a parameter has the default value. */
export function urlsOf(route: PublishedRoute): (key: number) => readonly [string, ...string[]] {
  const url = filler(urlTemplate(route));
  const fallback = route.parameters?.find((parameter) => parameter.in === 'query')?.default;
  return (key) => (key === fallback ? [url(key), route.path] : [url(key)]);
}
