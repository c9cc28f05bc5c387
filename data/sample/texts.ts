import type { Choices, Dice } from './dice.js';
import { choices, filled } from './words.js';

/** Texts that are hard to preserve exactly, each in its own way; {} is the name that they are around. */
const AROUND = [
  ...`🦊 {} 🌙 | "{}" | '{}' isn't it | <b>{}</b> | {} &amp; {} &lt;3 | </script><script>"{}" | {} ]]> and ]]>
    | =SUM(1,2) {} | +{} | -{}- | @{} | {}, and more, of it; etc.; | 👩‍🚀 {} 👨‍👩‍👧‍👦🏳️‍🌈`.split(/\s+\| /),
  'C:\\{}\\new\\',
  '\u202Eשלום\u202C {} (مرحبا)',
  '{}\nsecond line',
  '{}\r\nand a third\r',
  '{}\tby the\tshore\t',
  '  {} ',
  '{} and the long way round '.repeat(8).trim(),
  '{}\u200B\u200D\u00A0\uFEFF',
  '{} \u0001\u007F\uFFFE',
  '{}\u2028next\u2029end',
];

/** What the first records of a kind have, once each. */
export const ODD_TEXTS = [
  ...AROUND,
  ...'4821907 | 007 | NULL | [ removed ] | lost \uFFFD in transit | %s {0} ${name} {{name}}'.split(' | '),
  ...'نادي الحديقة الهادئة جدا | מגדל האור השקט | 静かな灯台の夜の会 | 작은 별 공방 · 小さな星'.split(' | '),
  'Cafe\u0301 Zoe\u0308 \u1E9E n\u0303',
  'ḧ̴́ơ̸͝l̵̇l̷̀ơ̴w̶',
  ' ',
];

/** What people do to a name so that it stands out. */
export const DECORATIONS: Choices<string> = [
  '🎮 {} ❤️',
  ...'[CLOSED] {} | ~ {} ~ | {}!! | »{}« | {} · Official'.split(' | '),
  ...AROUND,
];

const lines = (text: string) => choices(text, /\n\s*/);

/** Sentences of descriptions, one a line; {} is the record's own name, and / a line break. */
const SENTENCES = {
  group: lines(`Welcome to {}!
    The official group of {}. There is no other one, whatever they tell you.
    Rules: / 1. Be kind. / 2. Share the tools. / 3. Mind the geese.
    RULES / - no spam / - no begging for ranks / - staff have the last word
    Applications are CLOSED until spring. We had more than we could read.
    Started by {First} and {Surname} in {Place}, now run by whoever has time. We meet every Friday, 19:00 UTC 🕙
    Join our {adjective} team & get a hat. Questions? Ask at the {noun} desk <3
    Allies: {Place} {Topic}, the {Adjective} {Creature}.
    not very active anymore but feel free to stay, we mostly just talk about {creature} tbh
    Moved! Please join the new group, this one stays up for the old members.
    مرحبا بكم في {arplace}
    ようこそ！{japlace}へ
    Добро пожаловать! Читайте правила в закрепе.
    Bienvenue à tous, débutants compris.`),
  game: lines(`Welcome to {}!
    🎉 UPDATE {number} / - new map: {Place} / - fixed the {noun} / - faster boats
    Find all {number} {creature}. Nobody has yet. Still in alpha, so expect bugs.
    Codes: {NOUN}{number} (expired)
    How to play: / 1. Pick a {thing}. / 2. Wait for the bell. / 3. Run.
    Made by {First} and {Surname} over one very long winter.
    Join the group for a {adjective} lantern!
    Like and favourite for more 👍 We are a small team, so updates come when they come.
    اللعبة متاحة بالعربية الآن
    Наконец-то на русском!`),
  item: lines(`Goes with everything, except the {Adjective} {Noun}.
    matching set in our group 💫
    For the winners of the {Place} {Topic} contest. Well done!
    Warm, dry and a little too large. If it clips through your hair, try the smaller one.
    🌸 y2k, cute, soft, {adjective}, {noun}, aesthetic 🌸
    Found at the bottom of the old {thing}. Do not feed it after sunset.
    かわいい帽子です。`),
};

/** The longest description that the platform allows, in UTF-16 code units. */
const LONGEST = 1_000;

/** A few different sentences, or none for every third record. */
export function describe(
  story: 'empty' | 'long' | undefined,
  kind: keyof typeof SENTENCES,
  name: string,
  dice: Dice,
): string {
  const say = (text: string) => filled(text, (list) => dice.pick(list));
  if (story === 'long') {
    return say('The story of the {Adjective} {Noun}, told slowly,\n').repeat(LONGEST).slice(0, LONGEST);
  }
  if (story === 'empty' || dice.once(3)) return '';
  const some = new Set(Array.from({ length: 1 + dice.tail(1, 2) }, () => dice.pick(SENTENCES[kind])));
  const text = [...some].map(say).join(dice.pick([' ', ' ', '\n', '\n\n']));
  return text.replaceAll('{}', name.length > 60 ? `our ${kind}` : name).replaceAll(' / ', '\n');
}
