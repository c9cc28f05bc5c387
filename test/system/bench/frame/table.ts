import type { Result, Spread } from './measure.js';

/** Results as rows of Markdown. */

const HEAD = ['What', 'Ours', 'Peer', 'Ratio (min–max)', 'Target', 'Holds'];

/** The table, without a line break at its end. */
export function table(results: readonly Result[]): string {
  return [HEAD, HEAD.map(() => '---'), ...results.map(row)]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function row({ figure, ours, peer, ratio, holds }: Result): string[] {
  const { name, unit, target, better } = figure;
  const bound = target === undefined ? '' : `${better === 'higher' ? '≥' : '≤'} ${target}`;
  return [
    name,
    withSpread(ours, unit),
    peer === undefined ? '' : peerName(figure.peer) + withSpread(peer, unit),
    ratio === undefined ? '' : `${digits(ratio.median)} (${digits(ratio.min)}–${digits(ratio.max)})`,
    bound,
    holds === undefined ? '' : holds ? 'yes' : '**no**',
  ];
}

function peerName(peer: string | number | undefined): string {
  return typeof peer === 'string' ? `${peer.slice(0, peer.indexOf('/'))}: ` : '';
}

function withSpread({ median, min, max }: Spread, unit: string): string {
  const range = min === max ? '' : ` (${digits(min)}–${digits(max)})`;
  return `${digits(median)} ${unit}${range}`.trimEnd();
}

/** Three digits that count, thousands apart. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0 || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
