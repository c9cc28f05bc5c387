/** A mirror equals its origin, whatever that lacks: kinds, histories, columns, records, the contact for security. */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { assert, asyncProperty, boolean, constantFrom, integer, record, subarray, tuple } from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { writeSample } from '../../../../data/sample.js';
import { RESOURCES, TABLES } from '../../../../generator/schema/schema.js';
import { startProxy } from '../../../support/proxy.js';
import { changeRegister } from '../../../support/register.js';
import { Site } from '../../../support/site.js';
import { isThorough } from '../../../support/thorough.js';
import { differing, removeTree } from '../../../support/tree.js';
import { expectAtRest, hashesOf, inProcess, manifestOf, temporary } from '../../publish/support.js';

const path = temporary();

/** What is left of a table of the sample: its rows, no rows, or nothing. */
const STATES = ['rows', 'no rows', 'nothing'] as const;
type State = (typeof STATES)[number];
type Left = readonly [table: string, state: State];

/** The kind that each history belongs to. */
const KIND_OF = new Map(
  RESOURCES.flatMap(({ plural, histories }) => histories.map(({ table }) => [table, plural] as const)),
);
const NULLABLE = TABLES.flatMap(({ name, columns }) =>
  columns.filter(({ nullable }) => nullable).map((column) => [name, column.name] as const),
);

/** What an origin publishes next. */
interface Partial {
  /** Of each table. */
  readonly left: readonly Left[];
  /** The columns that it lacks. */
  readonly without: readonly (typeof NULLABLE)[number][];
  readonly seed: number;
  /** Whether the downloads stay as they were. */
  readonly keepDownloads: boolean;
  /** Whether the copy that there is follows at once. */
  readonly isFollowed: boolean;
}

const WHOLE: Partial = { left: [], without: [], seed: 1, keepDownloads: false, isFollowed: true };

/** Tables in any of these states, but not without any kind, which no build accepts. */
const partial = record({
  left: tuple(
    ...TABLES.map(({ name }) => constantFrom(...STATES).map((state): Left => [name, state])),
  ).filter((left) => RESOURCES.some(({ plural }) => new Map(left).get(plural) !== 'nothing')),
  without: subarray(NULLABLE, { maxLength: 5 }),
  seed: integer({ min: 1, max: 1000 }),
  keepDownloads: boolean(),
  isFollowed: boolean(),
});

/** Writes a register of which so much is left. */
async function write(file: string, { left, without, seed }: Partial): Promise<void> {
  rmSync(file, { force: true });
  await writeSample({ file, records: 40, seed });
  const states = new Map(left);
  const sql = left.map(([table, state]) => {
    if (state === 'nothing') return `DROP TABLE ${table};`;
    const columns = without.filter(([name]) => name === table);
    const dropped = columns.map(([, column]) => `ALTER TABLE ${table} DROP COLUMN ${column};`).join('');
    // A history is one of records that are there.
    const isLeft = state === 'rows' && (states.get(KIND_OF.get(table) ?? table) ?? state) === 'rows';
    return isLeft ? dropped : `${dropped} DELETE FROM ${table};`;
  });
  changeRegister(file, `PRAGMA synchronous = OFF; ${sql.join('')}`);
}

/** The hash and mode of each file but for the changes, which are those since the first copy. */
const lasting = (tree: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(hashesOf(tree))
      .filter(([file]) => !file.startsWith('changes/'))
      .map(([file, hash]) => [file, `${hash} ${statSync(join(tree, file)).mode}`]),
  );

const EXAMPLES: Partial[] = [
  { ...WHOLE, left: [['games', 'nothing']] },
  // No time of a measurement either, so no contact for security.
  { ...WHOLE, left: TABLES.map(({ name }) => [name, 'no rows']) },
];
const RUNS = isThorough ? 50 : 3;

it('a copy equals an origin that lacks anything, the first time and as that comes and goes', async () => {
  const origin = new Site(path('register.sqlite'), path('origin'));
  await write(origin.register, WHOLE);
  await origin.build();
  const proxy = await startProxy(origin.out);
  onTestFinished(() => void proxy.stop());
  const mirrored = async (out: string): Promise<void> => {
    const { code, stderr } = await inProcess('mirror', proxy.base, '--out', out);
    expect([code, stderr]).toEqual([0, '']);
    expect(differing(lasting(out), lasting(origin.out))).toEqual([]);
    await expectAtRest(out);
  };
  const [first, followed] = [path('first'), path('followed')];
  await mirrored(followed);
  let builds = 0;
  const property = asyncProperty(partial, async (next) => {
    await write(origin.register, next);
    const at = new Date(Date.UTC(2027, 0, 1, 0, (builds += 1))).toISOString();
    await origin.build('', { at, keepDownloads: next.keepDownloads });
    const { built_at: expected } = manifestOf(origin.out);
    await expect
      .poll(async () => (await proxy.get('/snapshot.json')).json())
      .toMatchObject({ built_at: expected });
    removeTree(first);
    await mirrored(first);
    if (next.isFollowed) await mirrored(followed);
  });
  const examples = EXAMPLES.map((each): [Partial] => [each]);
  await assert(property, { examples, numRuns: RUNS, endOnFailure: true });
}, 600_000);
