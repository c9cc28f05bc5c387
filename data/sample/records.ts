import { type Choices, Dice } from './dice.js';
import { nameOf } from './names.js';
import { idOf, isWithheld, type Kind, type Register } from './register.js';
import { famousAt, inTurn, singularAt, type Story, storyOf } from './stories.js';
import { DAY, type Life, lifeOf, NOW, timeText } from './times.js';

/** By column of data/schema.sql. Times as text, booleans as 0 or 1. */
export type Row = Readonly<Record<string, string | number | null>>;

/** A record that is being written. */
export interface Subject {
  readonly register: Register;
  readonly index: number;
  readonly dice: Dice;
  readonly name: string;
  readonly story: Story;
  /** The members of a group; the larger, the more often a record is read. */
  readonly size: number;
  readonly life: Life;
}

/** How the records of a kind are written. */
export interface Writer {
  readonly kind: Kind;
  /** The state of what is hidden. */
  readonly hidden: string;
  /** Columns, alone or together. */
  readonly unmeasured: Choices<readonly string[]>;
  readonly write: (subject: Subject) => {
    /** Those that not every kind has. */
    readonly columns: Row;
    /** By table. @param isMeasured whether a column of the record is */
    readonly histories?: (
      isMeasured: (column: string) => boolean,
    ) => Readonly<Record<string, readonly Row[]>>;
  };
}

/** What may be unmeasured: what stands between the bars, a column or several, or all of them. */
export function gaps(text: string): Choices<readonly string[]> {
  const each = text.split('|').map((columns) => columns.trim().split(/\s+/));
  return [each.flat(), ...each];
}

/** Inserts a record with its histories. */
export function writeRecord(
  { kind, hidden, unmeasured, write }: Writer,
  register: Register,
  index: number,
  insert: (table: string, row: Row) => void,
): void {
  const dice = new Dice(register.seed, kind, index);
  const famous = kind === 'group' ? famousAt(index) : undefined;
  const singular = kind === 'game' || kind === 'item' ? singularAt(index) : famous;
  const story = singular ?? storyOf(index);
  // Half of the groups have fewer than a hundred members, and others than the famous 1.3e8 at most
  const size = famous?.members ?? dice.tail(32, 21);
  const isHistoric = story.names !== undefined || story.owner !== undefined || story.count !== undefined;
  const life = lifeOf(dice, index / register.counts[kind], size, isHistoric ? 3 : 1, register.events);
  const name = nameOf(register, kind, index);
  const { columns, histories } = write({ register, index, dice, name, story, size, life });
  const gap = (singular === undefined ? inTurn(unmeasured, 127, index + 100) : undefined) ?? [];
  const id = idOf(register, kind, index);
  insert(`${kind}s`, {
    id,
    state: story.state === 'hidden' ? hidden : (story.state ?? 'present'),
    ...columns,
    created_at: timeText(life.created),
    first_measured_at: timeText(life.first),
    measured_at: timeText(life.last),
    measurements: life.readings.length,
    ...Object.fromEntries(gap.map((column) => [column, null])),
  });
  const key = `${kind}_id`;
  const all = histories?.((column) => !gap.includes(column)) ?? {};
  for (const [table, rows] of Object.entries(all)) {
    for (const row of rows) insert(table, { [key]: id, ...row });
  }
  if (isWithheld(index)) {
    const since = NOW - new Dice(register.seed, `${kind} withheld`, index).below(600 * DAY);
    insert('withheld', { kind, id, since: timeText(since) });
  }
}
