import type { Choices } from './dice.js';

/** Fictional words for names, of at most six letters: two of them must fit in a username. */
export const ADJECTIVES = words(`
  amber ashen azure bold brave brisk bright calm cedar clever cobalt copper coral cosy crisp dapper
  dusky early faint fern fleet frosty gentle gilded glad golden grand hazel hidden hollow humble indigo
  ivory jade jolly keen kindly lively lunar maple mellow mild misty mossy nimble noble ochre olive
  opal pale proud quick quiet rapid rosy rustic sandy silent silver snowy solar spry sunny velvet`);

export const NOUNS = words(`
  anchor badger barley beacon birch bridge canyon castle cloud comet cove crane creek delta dune ember
  falcon ferry field finch forest fox garden gate glade grove haven heron hill island kettle kite
  lake lark lodge magpie marsh meadow mill moon orbit otter owl pebble pine planet pond quarry
  rabbit raven reef ridge river robin rocket shore star summit tower tulip turtle valley willow wren`);

export const GROUP_FORMS: Words = [
  '{Adjective} {Noun}',
  '{Adjective} {Noun} Guild',
  '{Adjective} {Noun} Society',
  '{Adjective} {Noun} Workshop',
  '{Noun} & {Second} Company',
  'The {Adjective} {Noun}',
  'Friends of the {Noun}',
  '{Noun} Builders Club',
  '{Noun} {Second} Studios',
  'Order of the {Adjective} {Noun}',
  '{Adjective} {Noun} Rescue Team',
  '{Noun} Street Theatre',
  "{Noun}'s {Second} Crew",
  '{Adjective} Gardeners (official)',
  'université de {Noun}',
  'Клуб «{Adjective} {Noun}»',
];

export const GAME_FORMS: Words = [
  '{Adjective} {Noun} Tycoon',
  'Escape from {Noun} {Second}',
  '{Noun} Rally',
  '{Noun} Simulator',
  '[UPDATE 4] {Adjective} {Noun}',
  'Hide and Seek: {Noun}',
  '{Adjective} {Noun} Roleplay',
  'Survive the {Adjective} {Noun}!',
  '{Noun} Café',
  'Build your {Noun} 🚂',
  '{Adjective} {Noun} 2',
  '{Noun} vs. {Second}',
];

/** The types of items: the platform's number and name, and the form of their names. */
export const ITEM_TYPES: Choices<ItemType> = [
  { id: 3, type: 'Headwear', form: '{Adjective} {Noun} Cap' },
  { id: 3, type: 'Headwear', form: 'Crown of the {Noun}' },
  { id: 5, type: 'Cloak', form: '{Adjective} {Noun} Cloak' },
  { id: 9, type: 'Footwear', form: '{Adjective} Boots' },
  { id: 14, type: 'Shirt', form: '{Noun} Shirt ({Adjective})' },
  { id: 14, type: 'Shirt', form: '{Adjective} {Noun} jumper w/ pockets' },
  { id: 22, type: 'Backpack', form: '{Noun} Backpack' },
  { id: 31, type: 'Wings', form: '{Adjective} {Noun} Wings' },
  { id: 47, type: 'Gesture', form: 'Dance of the {Noun}' },
  { id: 58, type: 'Lantern', form: '{Adjective} Lantern' },
  { id: 73, type: 'Poster', form: '{Noun} by {Second}' },
];

export const GENRES: Words = [
  'Adventure',
  'Building',
  'Puzzle',
  'Racing',
  'Role play',
  'Sport',
  'Survival',
  'Other',
];

export const SENTENCES: Words = [
  'We build slow trains and quick boats.',
  'Say hello at the gate, then look around.',
  'Open every weekend from ten to six 🕙',
  'No shouting in the library, please!',
  'Rules:\n1. Be kind.\n2. Share the tools.\n3. Mind the geese.',
  'The {Adjective} {Noun} was here first; we only keep it tidy.',
  'Formerly known as "{Adjective} {Noun}".',
  'Ask a {Noun} keeper if you are lost.',
  'Join our {Adjective} team & get a hat.',
  'Questions? Ask at the {Noun} desk <3',
  'Made by three people, two cats and a {Noun}.',
  'Next meeting: the {Noun}, at sunset.',
  'Trading is off; gifts are fine.\n',
  'مرحبا بكم في {Noun}',
  'ようこそ！{Noun}へ',
  'Thanks to everyone who found a {Adjective} {Noun} ❤️',
  '★ New ★ the {Adjective} wing of the {Noun} museum',
  'If something is broken, tell us: we mend it on Mondays.',
];

/** Texts that are hard to preserve exactly, each in its own way. */
export const ODD_TEXTS: Choices<OddText> = [
  (plain) => `🦊 ${plain} 🌙`,
  (plain) => `👩‍🚀 ${plain} 👨‍👩‍👧‍👦🏳️‍🌈`,
  () => 'نادي الحديقة الهادئة',
  () => 'מגדל האור השקט',
  (plain) => `\u202Eשלום\u202C ${plain} (مرحبا)`,
  () => '静かな灯台の会',
  () => '작은 별 공방 · 小さな星',
  () => 'Cafe\u0301 Zoe\u0308 \u1E9E n\u0303',
  () => 'ḧ̴́ơ̸͝l̵̇l̷̀ơ̴w̶',
  (plain) => `"${plain}"`,
  (plain) => `'${plain}' isn't it`,
  (plain) => `${plain}\nsecond line`,
  (plain) => `${plain}\r\nand a third\r`,
  (plain) => `${plain}\tby the\tshore`,
  (plain) => `${plain}\t`,
  (plain) => `  ${plain} `,
  (plain) => `<b>${plain}</b>`,
  (plain) => `${plain} &amp; ${plain} &lt;3`,
  (plain) => `</script><script>"${plain}"`,
  (plain) => `${plain} ]]> and ]]>`,
  (plain) => `=SUM(1,2) ${plain}`,
  (plain) => `+${plain}`,
  (plain) => `-${plain}-`,
  (plain) => `@${plain}`,
  () => '4821907',
  () => '007',
  (plain) => `${plain}, and more, of it`,
  (plain) => `${plain}; etc.;`,
  (plain) => `C:\\${plain}\\new\\`,
  (plain) => `${plain} and the long way round `.repeat(8).trim(),
  () => 'NULL',
  () => '[ removed ]',
  (plain) => `${plain}\u200B\u200D\u00A0\uFEFF`,
  () => 'lost \uFFFD in transit',
  (plain) => `${plain} \u0001\u007F\uFFFE`,
  (plain) => `${plain}\u2028next\u2029end`,
  () => '%s {0} ${name} {{name}}',
  () => ' ',
];

type Words = Choices<string>;

interface ItemType {
  readonly id: number;
  readonly type: string;
  readonly form: string;
}

type OddText = (plain: string) => string;

function words(text: string): Words {
  const [first = '', ...others] = text.trim().split(/\s+/);
  return [first, ...others];
}
