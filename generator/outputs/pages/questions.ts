/** What one can find out from a register, as questions. */
import type { Measured } from '../../schema/measured.js';
import type { Kind } from '../../schema/field.js';
import type { InWords } from '../../schema/words.js';
import type { Population } from '../../register/overview.js';
import { MONTHS, day } from './words.js';

/** A record in the first question about it; in others, it is called `it`. */
const SUBJECTS: Readonly<Record<Kind, string>> = {
  group: 'a group on {platform}',
  user: 'a user of {platform}',
  game: 'a game on {platform}',
  item: 'an item of {platform}',
};

type Question = readonly [measured: string, text: string];

/** Questions, in order: of several that stand together, the first that can be answered is asked. */
const QUESTIONS: Readonly<Record<Kind, readonly (readonly Question[])[]>> = {
  group: [
    [
      ['group_member_readings', 'How many members did {it} have in {month}?'],
      ['groups.member_count', 'How many members does {it} have, and when was that read?'],
    ],
    [['group_names', 'What was {it} called before?']],
    [['group_owners', 'Who owned {it}?']],
  ],
  user: [
    [
      ['usernames', 'What was {it} called before, and until when?'],
      ['users.username', 'What is {it} called, and when was that read?'],
    ],
  ],
  game: [
    [
      ['games.playing', 'How many people were playing {it}, and when was that read?'],
      ['games.visits', 'How often was {it} visited, and when was that read?'],
    ],
  ],
  item: [[['items.price', 'What did {it} cost, and when was that read?']]],
};

const OTHERWISE = 'What was measured of {it}, and when?';

/** May, or the month of the first measurement that is known in a register that may have none of a May. */
function monthAsked({ firstMeasuredAt, measuredAt: last }: Population): string {
  if (last === null) return 'May';
  const first = firstMeasuredAt ?? last;
  const years = Array.from(
    { length: Number(last.slice(0, 4)) - Number(first.slice(0, 4)) + 1 },
    (_, index) => Number(first.slice(0, 4)) + index,
  );
  const hasMay = years.some((year) => first < `${year}-06` && last >= `${year}-05`);
  return hasMay ? 'May' : (MONTHS.find((month) => day(first).includes(month)) ?? '');
}

function questionsAbout(
  population: Population,
  measured: Measured,
  platform: string,
  inWords: InWords,
): readonly string[] {
  const { kind } = population.resource;
  const asked = QUESTIONS[kind].flatMap(
    (several) => several.find(([what]) => measured.has(what))?.slice(1) ?? [],
  );
  const texts = asked.length > 0 ? asked : [OTHERWISE];
  const values = new Map([
    ['{month}', monthAsked(population)],
    ['{platform}', platform],
  ]);
  return texts.map((text, index) =>
    inWords(text.replace('{it}', index === 0 ? SUBJECTS[kind] : 'it')).replaceAll(
      /\{\w+\}/g,
      (place) => values.get(place) ?? place,
    ),
  );
}

/** The questions that a register answers. Those about groups do for all. */
export function questions(
  populations: readonly Population[],
  measured: Measured,
  platform: string,
  inWords: InWords,
): readonly string[] {
  const known = populations.filter(({ records }) => records > 0);
  const groups = known.filter(({ resource }) => resource.kind === 'group');
  return (groups.length > 0 ? groups : known).flatMap((population) =>
    questionsAbout(population, measured, platform, inWords),
  );
}
