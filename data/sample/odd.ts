import type { Choices } from './dice.js';

type OddText = (plain: string) => string;

/** Texts that are hard to preserve exactly, each in its own way, around a name. */
const AROUND: Choices<OddText> = [
  (plain) => `🦊 ${plain} 🌙`,
  (plain) => `👩‍🚀 ${plain} 👨‍👩‍👧‍👦🏳️‍🌈`,
  (plain) => `\u202Eשלום\u202C ${plain} (مرحبا)`,
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
  (plain) => `${plain}, and more, of it`,
  (plain) => `${plain}; etc.;`,
  (plain) => `C:\\${plain}\\new\\`,
  (plain) => `${plain} and the long way round `.repeat(8).trim(),
  (plain) => `${plain}\u200B\u200D\u00A0\uFEFF`,
  (plain) => `${plain} \u0001\u007F\uFFFE`,
  (plain) => `${plain}\u2028next\u2029end`,
];

/** Odd names that no other record of the kind shares: once each, in the first records of a kind. */
export const ODD_TEXTS: Choices<OddText> = [
  ...AROUND,
  () => 'نادي الحديقة الهادئة جدا',
  () => 'מגדל האור השקט',
  () => '静かな灯台の夜の会',
  () => '작은 별 공방 · 小さな星',
  () => 'Cafe\u0301 Zoe\u0308 \u1E9E n\u0303',
  () => 'ḧ̴́ơ̸͝l̵̇l̷̀ơ̴w̶',
  () => '4821907',
  () => '007',
  () => 'NULL',
  () => '[ removed ]',
  () => 'lost \uFFFD in transit',
  () => '%s {0} ${name} {{name}}',
  () => ' ',
];

/** What people do to a name so that it stands out; later records have these. */
export const DECORATIONS: Choices<OddText> = [
  ...AROUND,
  (plain) => `${plain} ❤️`,
  (plain) => `🎮 ${plain}`,
  (plain) => `[CLOSED] ${plain}`,
  (plain) => `~ ${plain} ~`,
  (plain) => `${plain}!!`,
  (plain) => `»${plain}«`,
  (plain) => `${plain} | Official`,
  (plain) => `-${plain}`,
];
