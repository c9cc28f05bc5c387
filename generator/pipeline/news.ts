/**
 * What is new in a snapshot, in one sentence: from the numbers of documents of records, and from two documents
 * of lists as they were and as they are now.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { onOneLine } from '../base/errors.js';
import { parseJson } from '../base/portable.js';
import { amountOf, number } from '../base/progress.js';
import { cut } from '../outputs/pages/words.js';
import type { Changes, StageSpec, Written } from '../publish/stage.js';
import { LIST_ENTRIES, moversRoute } from '../routes/lists.js';
import { filler } from '../routes/route.js';
import type { Resource } from '../schema/field.js';
import { RESOURCES, resourceOf } from '../schema/schema.js';
import { WINDOWS } from '../schema/members.js';

const MOVERS = moversRoute('h24');

/** The routes of those lists. */
export const NEWS_ROUTES: readonly string[] = ['recent', MOVERS];

const entries = z
  .array(z.object({ id: z.int(), measured_at: z.string(), changed_at: z.string().nullable() }))
  .nullable();
const recentBody = z.object({ group_names: entries, group_owners: entries, usernames: entries });
const moversBody = z.object({
  gains: z.array(z.object({ id: z.int(), name: z.string().nullable(), delta: z.int(), to_at: z.string() })),
});
type Entry = NonNullable<z.infer<typeof entries>>[number];

/** The lists in the document `recent`, and what is said of a record that has a new entry in one. */
const CHANGES = [
  { list: 'group_names', resource: resourceOf('group'), words: 'renamed' },
  { list: 'group_owners', resource: resourceOf('group'), words: 'with a new owner' },
  { list: 'usernames', resource: resourceOf('user'), words: 'renamed' },
] as const;

/**
 * @param since the number of the snapshot before; null if there is none
 * @param byRoute what became of the documents of each route
 */
export function newsOf(
  since: number | null,
  spec: StageSpec,
  byRoute: ReadonlyMap<string, Changes>,
  written: readonly Written[],
): string {
  const counts = RESOURCES.flatMap(({ plural, record }) => {
    const found = byRoute.get(record.route);
    return found === undefined ? [] : [{ plural, ...found }];
  });
  const added = counts.filter((each) => each.added > 0);
  if (since === null) {
    const records = added.map((each) => amountOf(each.added, each.plural)).join(', ');
    return `The first snapshot: ${records === '' ? 'no records' : records}`;
  }
  if (spec.lists === null) return `What is new since snapshot ${since} can't be told: its lists are lost`;
  const sum = (of: 'changed' | 'removed'): number => counts.reduce((total, each) => total + each[of], 0);
  const [changed, gone] = [sum('changed'), sum('removed')];
  const parts = [
    [
      ...added.map(({ plural, added: count }) => amountOf(count, `new ${plural}`)),
      ...renamed(spec, written),
      ...(changed === 0 ? [] : [`${amountOf(changed, 'records')} changed`]),
    ].join(', '),
    largestGain(written),
    gone === 0 ? '' : `${amountOf(gone, 'records')} gone`,
  ].filter((part) => part !== '');
  return `Since snapshot ${since}: ${parts.length === 0 ? 'no record changed' : parts.join('; ')}`;
}

/** A document as it was and as it is now; undefined if it is the same, or is new, gone or altered. */
function bothOf<Body>(written: readonly Written[], route: string, body: z.ZodType<Body>) {
  const [before, after] = written
    .filter((each) => each.route === route)
    .flatMap(({ examples }) => examples.flatMap(({ texts }) => texts ?? []))
    .map((text) => body.safeParse(parseJson(text)).data);
  return before === undefined || after === undefined ? undefined : { before, after };
}

/** How many records that were published before have an entry in a list that it didn't have before. */
function renamed(spec: StageSpec, written: readonly Written[]): readonly string[] {
  const lists = bothOf(written, 'recent', recentBody);
  if (lists === undefined) return [];
  return CHANGES.flatMap(({ list, resource, words }) => {
    const [before, after] = [lists.before[list], lists.after[list]];
    if (before === null || after === null) return [];
    const fresh = freshIn(before, after);
    const ids = new Set(fresh.map(({ id }) => id));
    const known = [...ids].filter((id) => isPublished(spec, resource, id)).length;
    // The list may have been too short for all of them.
    const least = fresh.length === LIST_ENTRIES ? 'at least ' : '';
    return known === 0 ? [] : [`${least}${amountOf(known, resource.plural)} ${words}`];
  });
}

/** The new entries above the last one that both lists have. Those below are older: removed entries made room for them. */
function freshIn(before: readonly Entry[], after: readonly Entry[]): readonly Entry[] {
  // Without the names, which may be withheld since.
  const keyOf = ({ id, measured_at, changed_at }: Entry): string => `${id} ${measured_at} ${changed_at}`;
  const known = new Set(before.map(keyOf));
  const last = after.findLastIndex((entry) => known.has(keyOf(entry)));
  return after.slice(0, last < 0 ? after.length : last).filter((entry) => !known.has(keyOf(entry)));
}

function isPublished({ routes, out }: StageSpec, { record }: Resource, id: number): boolean {
  const route = routes.find(({ name }) => name === record.route);
  return route !== undefined && existsSync(join(out, filler(route.file)(id)));
}

function largestGain(written: readonly Written[]): string {
  const lists = bothOf(written, MOVERS, moversBody);
  const [[old], [gain]] = [lists?.before.gains ?? [], lists?.after.gains ?? []];
  if (gain === undefined || (gain.id === old?.id && gain.to_at === old.to_at)) return '';
  const name = cut(onOneLine(gain.name ?? ''), 60).trim();
  return `largest gain in ${WINDOWS.h24.words} ${name === '' ? `group ${gain.id}` : name} +${number(gain.delta)}`;
}
