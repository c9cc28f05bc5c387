/** A record of a group in sentences, each with the fields that it reads. */
import * as z from 'zod';
import { OWNER_CASES, group } from '../../../schema/group.js';
import { shapesOf } from '../../../schema/field.js';
import { capitalized, type InWords } from '../../../schema/words.js';
import { amount, difference, integer, moment } from '../words.js';

export interface Sentence {
  readonly fields: readonly string[];
  readonly text: string;
  /** A name that was read, which follows the text. */
  readonly name?: string | null;
}

const reading = z.object({ member_count: z.number(), measured_at: z.string() });
type Reading = z.infer<typeof reading>;
const histories = z.object({ members: z.array(reading).nullish() });
const record = z.object({
  id: z.number(),
  name: z.string().nullable(),
  state: z.string().nullable(),
  owner_state: z.string().nullable(),
  owner: z.object({ name: z.string().nullable() }).nullable(),
  member_count: z.number().nullable(),
  peak: reading.nullable(),
  change: z.object({ h24: z.object({ delta: z.number(), from_at: z.string() }).nullable() }),
  first_measured_at: z.string().nullable(),
  measured_at: z.string(),
  measurements: z.number().nullable(),
  platform_id: z.string().nullable(),
});

const meaningOf = (field: string, word: string): string | undefined => {
  const shape = shapesOf(group.record.fields, group.histories).find(({ name }) => name === field);
  return shape?.is === 'value' ? shape.meanings?.[word] : undefined;
};

/** How often it was measured, and since when, as far as the register keeps that. */
function measuredSince(first: string | null, measurements: number | null): Sentence | false {
  if (measurements === null)
    return (
      first !== null && { fields: ['first_measured_at'], text: `It was first measured on ${moment(first)}.` }
    );
  const times = measurements === 1 ? 'once' : `${integer(measurements)} times`;
  return first === null
    ? { fields: ['measurements'], text: `It has been measured ${times}.` }
    : {
        fields: ['first_measured_at', 'measurements'],
        text: `It has been measured ${times} since ${moment(first)}.`,
      };
}

/** A count is dated by its newest reading, or by its record if it has none. */
function countedAt(members: number, newest: Reading | undefined): string {
  const count = amount(members, 'member');
  return newest === undefined
    ? `At that time it had ${count}.`
    : `The newest reading of its members was on ${moment(newest.measured_at)}: ${count}.`;
}

/**
 * The sentences, most important first. What is null is in the last one.
 * @param body of the record
 * @param history the body of its history
 */
export function sentencesOf(
  body: string,
  history: string | undefined,
  inWords: InWords,
): readonly Sentence[] {
  const json: unknown = JSON.parse(body);
  const { members: readings } = histories.parse(JSON.parse(history ?? '{}'));
  const {
    id,
    name,
    state,
    owner_state: ownerState,
    owner,
    member_count: members,
    peak,
    change,
    first_measured_at: first,
    measured_at: last,
    measurements,
    platform_id: platformId,
  } = record.parse(json);
  const { h24 } = change;
  const ownerCase = OWNER_CASES.find((each) => each.state === ownerState);
  const ownership = owner === null ? ownerCase?.null : ownerCase?.object;
  const all: readonly (Sentence | false)[] = [
    {
      fields: ['id', 'name'],
      text: `Group ${id}${name === null ? ' has no name that was read.' : ' is called'}`,
      name,
    },
    platformId !== null && {
      fields: ['platform_id'],
      text: 'On the platform, its id is',
      name: platformId,
    },
    { fields: ['measured_at'], text: `It was last measured on ${moment(last)}.` },
    members !== null && {
      fields: ['member_count'],
      text: countedAt(members, readings?.at(-1)),
    },
    h24 !== null && {
      fields: ['change'],
      text: `${capitalized(difference(h24.delta))} since the reading of ${moment(h24.from_at)}, which is at least a day earlier. Both are readings: nothing is interpolated.`,
    },
    peak !== null && {
      fields: ['peak'],
      text: `The highest of all its readings is ${integer(peak.member_count)}, on ${moment(peak.measured_at)}.`,
    },
    state !== null && {
      fields: ['state'],
      text: `“${state}” means: ${meaningOf('state', state) ?? 'a word that was added'}.`,
    },
    (ownerState !== null || owner !== null) &&
      typeof ownership === 'string' && {
        fields: ['owner_state', 'owner'],
        text: `${owner === null ? '' : 'There is an owner: '}${ownership}${owner?.name ? ',' : '.'}`,
        name: owner === null ? null : owner.name,
      },
    measuredSince(first, measurements),
  ];
  const sentences = all.filter((sentence) => sentence !== false);
  const named = new Set(sentences.flatMap(({ fields }) => fields));
  const nulls = Object.entries(z.record(z.string(), z.unknown()).parse(json)).flatMap(([field, value]) =>
    value === null && !named.has(field) && field !== 'platform_id' ? [field] : [],
  );
  if (nulls.length > 0) sentences.push({ fields: nulls, text: 'Null: not measured, or not published.' });
  return sentences.map((sentence) => ({ ...sentence, text: inWords(sentence.text) }));
}
