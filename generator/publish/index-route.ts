/** Writes the next index of a route. */
import { createHash } from 'node:crypto';
import { applyPatches } from '../tree/patch.js';
import { entriesIn } from '../tree/hash-file.js';
import { filler, urlTemplate } from '../routes/index.js';
import { namesOf, siblingsFrom } from '../tree/codings.js';
import { digestLine, summarise } from '../tree/digest.js';
import type { RouteSummary } from '../tree/index-json.js';
import { isVariant } from './route-lists.js';
import { ListWriter, listPart } from './stage.js';
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

export interface Indexing {
  readonly route: PublishedRoute;
  /** The route's index in the previous snapshot, if any. */
  readonly old: string | undefined;
  readonly patches: readonly string[];
  /** Where the next index is written. */
  readonly next: string;
  /** The folder of lists, if changes are listed. */
  readonly lists: string | undefined;
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
  old: oldIndex,
  patches,
  next,
  lists,
  withheld: keys,
}: Indexing): IndexedRoute {
  const file = filler(route.file);
  const from = siblingsFrom(route);
  const counts = { added: 0, changed: 0, removed: 0 };
  let [withheld, placed] = [0, 0];
  const sum = applyPatches(oldIndex, patches, next, (entry, old) => {
    counts[old === undefined ? 'added' : entry === undefined ? 'removed' : 'changed'] += 1;
    if (entry !== undefined) placed += namesOf(file(entry.key), entry.bytes, from).length;
    else if (old !== undefined && keys.has(old.key)) withheld += 1;
  });
  if (lists !== undefined && isVariant(route) && counts.added + counts.changed > 0) {
    const list = new ListWriter(lists, listPart(route.name, 'variants'));
    list.add('puts', variantsEntry(next, route));
    list.finish();
  }
  const summary = summarise(next, route);
  const unchanged = summary.documents - counts.added - counts.changed;
  return { ...summary, changes: { ...counts, unchanged }, withheld, placed, sum };
}

/** All variants as one entry of a change list, as JSON: the checksum is over their lines of the digest. */
function variantsEntry(index: string, route: PublishedRoute): string {
  const [template, digest] = [urlTemplate(route), createHash('sha256')];
  const url = filler(template);
  let [documents, bytes] = [0, 0];
  for (const entry of entriesIn(index)) {
    digest.update(digestLine(entry, url));
    documents += 1;
    bytes += entry.bytes;
  }
  return JSON.stringify({ path: template, documents, sha256: digest.digest('hex'), bytes });
}
