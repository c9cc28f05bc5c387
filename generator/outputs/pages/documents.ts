/** The documents of the snapshot that the front page reads, whether rendered now or kept. */
import { parseJson } from '../../base/portable.js';
import * as z from 'zod';
import type { Window } from '../../schema/members.js';
import { moversRoute } from '../../routes/lists.js';
import type { Reading } from './series.js';

/** Reads a document of this snapshot as text; undefined if there is none. */
export type ReadDocument = (route: string, key: number) => string | undefined;

const name = z.string().nullable();
/** A list; empty if it is not measured. */
const listOf = <Entry extends z.ZodType>(entry: Entry) =>
  z
    .array(entry)
    .nullable()
    .transform((entries) => entries ?? []);
/** A total; 0 if it is not measured. */
const total = z
  .int()
  .nullable()
  .transform((count) => count ?? 0);
const time = z.string();

const largestBody = z.object({
  groups: z.array(z.object({ id: z.int(), rank: z.int(), name, member_count: z.int(), measured_at: time })),
});
const mover = z.object({
  id: z.int(),
  name,
  delta: z.int(),
  from: z.int(),
  to: z.int(),
  from_at: time,
  to_at: time,
});
const moversBody = z.object({ gains: z.array(mover), losses: z.array(mover) });
const renaming = z.object({
  id: z.int(),
  from: name,
  to: name,
  changed_at: time.nullable(),
  measured_at: time,
  previous_measured_at: time.nullable(),
});
const recentBody = z.object({ group_names: listOf(renaming), usernames: listOf(renaming) });
const groupBody = z.object({ change: z.object({ d30: z.object({ delta: z.int() }).nullable() }) });
const historyBody = z.object({
  members: listOf(z.object({ measured_at: time, member_count: z.int() })),
});
const statsBody = z.object({
  histories: z.object({
    member_readings: total,
    name_changes: total,
    owner_changes: total,
    username_changes: total,
  }),
});

export type LargestGroup = z.infer<typeof largestBody>['groups'][number];
export type ListedMover = z.infer<typeof mover>;
export type Renaming = z.infer<typeof renaming>;

/** What the front page reads of other documents. What is not published is empty or undefined. */
export class PublishedDocuments {
  readonly #read: ReadDocument;

  constructor(read: ReadDocument) {
    this.#read = read;
  }

  /** The text of a document. */
  text(route: string, key = 0): string | undefined {
    return this.#read(route, key);
  }

  /** @param limit how many groups, at most */
  largest(limit: number): readonly LargestGroup[] {
    return this.#parsed(largestBody, 'largest', limit)?.groups ?? [];
  }

  movers(window: Window): z.infer<typeof moversBody> {
    return this.#parsed(moversBody, moversRoute(window)) ?? { gains: [], losses: [] };
  }

  recent(): z.infer<typeof recentBody> {
    return this.#parsed(recentBody, 'recent') ?? { group_names: [], usernames: [] };
  }

  /** The change of a group's member count over 30 days; null if it is not known. */
  monthlyChange(id: number): number | null {
    return this.#parsed(groupBody, 'group', id)?.change.d30?.delta ?? null;
  }

  /** All readings of a group's member count, oldest first. */
  readings(id: number): readonly Reading[] {
    return this.#parsed(historyBody, 'group-history', id)?.members ?? [];
  }

  histories(): z.infer<typeof statsBody>['histories'] | undefined {
    return this.#parsed(statsBody, 'stats')?.histories;
  }

  /** A published file that somebody has damaged counts as absent: `verify` is what reports it. */
  #parsed<Body>(schema: z.ZodType<Body>, route: string, key = 0): Body | undefined {
    const text = this.#read(route, key);
    return schema.safeParse(parseJson(text ?? '')).data;
  }
}
