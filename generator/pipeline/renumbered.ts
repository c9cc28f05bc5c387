/**
 * Refuses a build in which an id would mean another record than it was published for, as where the
 * table that numbers the platform's ids was lost. The published look-up by platform id says what an id means,
 * so that no state is needed, and no document of a record is read unless its id seems to mean another.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { reading, unlessFailure } from '../base/errors.js';
import { readJson } from '../base/files.js';
import type { Register } from '../register/database.js';
import { SHOWN_EXAMPLES, shorten } from '../register/findings.js';
import { isPublished, name } from '../register/sql.js';
import { platformIdRoute } from '../routes/lookup.js';
import { filler } from '../routes/route.js';
import { ROUTES, routeNamed } from '../routes/routes.js';
import type { Resource } from '../schema/field.js';
import { RESOURCES } from '../schema/schema.js';
import { andMore } from './guard.js';
import { locator } from '../tree/locate.js';
import { filesBelow } from '../tree/tree.js';

/** A table of the published pairs of a kind, while they are compared. It is in a file, since there may be millions. */
const PUBLISHED = 'temp._published';

const shardSchema = z.object({
  platform_ids: z.array(z.object({ platform_id: z.string(), id: z.int().min(1) })),
});
const recordSchema = z.object({ platform_id: z.string().nullable() });

/** How many there are, maybe millions, and a few of them. */
class Examples {
  total = 0;
  readonly #shown: string[] = [];

  add(example: string): void {
    this.total += 1;
    if (this.#shown.length < SHOWN_EXAMPLES) this.#shown.push(example);
  }

  get text(): string {
    return andMore(this.#shown, this.total);
  }
}

/**
 * Which ids would mean another record; undefined if none would. A record stays the same if its platform id
 * becomes known, or is no longer known: the removal guard counts the latter.
 * @param out the published tree
 * @param isTouched whether any document of a route would change: if none of the look-up does, ids mean what they meant
 * @param warn is called if the look-up is damaged, for which nothing is refused
 */
export function renumbered(
  register: Register,
  out: string,
  isTouched: (route: string) => boolean,
  warn: (line: string) => void,
): string | undefined {
  const [others, damaged] = [new Examples(), new Examples()];
  for (const resource of RESOURCES) {
    const { kind, plural, record } = resource;
    if (!isTouched(platformIdRoute(kind)) || !register.measured.has(`${plural}.platform_id`)) continue;
    const fileOf = filler(routeNamed(ROUTES, record.route).file);
    for (const [id, before, now] of differing(register, resource, pairsOf(resource, out, damaged))) {
      // Even a look-up that can be read may be damaged: the record itself tells.
      const { data } = recordSchema.safeParse(readPublished(out, fileOf(id)));
      if (data !== undefined && data.platform_id !== before) damaged.add(`${kind} ${id}`);
      else others.add(`${kind} ${id} ${quoted(now)} instead of ${quoted(before)}`);
    }
  }
  if (damaged.total > 0)
    warn(
      `warning: the published look-up by platform id is damaged (${damaged.text}; see verify), so nobody can` +
        ' tell of all ids whether they mean the same records as before',
    );
  return others.total === 0
    ? undefined
    : `${others.total === 1 ? '1 id' : `${others.total} ids`} would mean another record than published:` +
        ` ${others.text}, expected those that are published: restore what numbers the records` +
        ' (docs/your-register.md#text-ids), or publish other ids by build --accept-renumbered';
}

const quoted = (platformId: string): string => shorten(JSON.stringify(platformId));

/** The value in a published document; undefined if it can't be read. */
const readPublished = (out: string, file: string): unknown =>
  unlessFailure(() => reading(`"${file}"`, () => readJson(join(out, file))));

/** The published pairs of a kind, shard by shard. @param damaged the shards that can't be read are added to it */
function* pairsOf(
  { kind }: Resource,
  out: string,
  damaged: Examples,
): Generator<readonly [id: number, platformId: string]> {
  const route = routeNamed(ROUTES, platformIdRoute(kind));
  const locate = locator([route]);
  const folder = dirname(route.file);
  if (!existsSync(join(out, folder))) return;
  for (const file of filesBelow(out, folder)) {
    if (locate(file)?.suffix !== '') continue;
    const { data } = shardSchema.safeParse(readPublished(out, file));
    if (data === undefined) damaged.add(`"${file}"`);
    for (const { id, platform_id } of data?.platform_ids ?? []) yield [id, platform_id];
  }
}

/** The records with another platform id than one of the pairs, by ascending id. Reads the register once. */
function differing(
  register: Register,
  { kind, plural }: Resource,
  pairs: Iterable<readonly [id: number, platformId: string]>,
) {
  register.execute(
    `DROP TABLE IF EXISTS ${PUBLISHED}; CREATE TABLE ${PUBLISHED} (record INTEGER, called TEXT)`,
  );
  register.insert(PUBLISHED, pairs);
  // An index made after the rows is quicker. The query searches this table, since a view may have no index.
  register.execute(`CREATE INDEX temp._published_record ON _published (record, called)`);
  return register.rows<[id: number, before: string, now: string]>(
    `SELECT id, _published.called, platform_id FROM ${name(plural)}` +
      ` CROSS JOIN ${PUBLISHED} AS _published ON _published.record = id` +
      ` WHERE _published.called <> platform_id COLLATE BINARY AND ${isPublished(kind)} ORDER BY id`,
  );
}
