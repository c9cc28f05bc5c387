/** The output of `upload`, for people. */
import { number } from '../progress.js';
import { costText, size } from '../report.js';
import type { Cost } from '../report.js';
import type { Foreign } from './compare.js';
import type { Uploaded } from './upload.js';
import type { RemoteReport } from './verify-remote.js';

/** How many files of a sort are shown. */
const SHOWN = 5;

const files = (count: number): string => `${number(count)} ${count === 1 ? 'file' : 'files'}`;

export function uploadedLines(
  { remote, sequence, written, bytes, deleted, unchanged }: Uploaded,
  cost: Cost,
): string[] {
  return [
    `${remote} holds snapshot ${sequence}`,
    `  written    ${files(written)}, ${size(bytes)}`,
    `  deleted    ${files(deleted)}`,
    `  unchanged  ${files(unchanged)}`,
    `  cost       ${costText(cost)}`,
  ];
}

export function remoteLines({ remote, sequence, files: wanted, foreign, ...found }: RemoteReport): string[] {
  const sorts = (['missing', 'different', 'extra'] as const).filter((sort) => found[sort].length > 0);
  const counts = sorts.map((sort) => `${number(found[sort].length)} ${sort}`).join(', ');
  return [
    ...sorts.flatMap((sort) => examples(sort, found[sort], found[sort].length)),
    sorts.length === 0
      ? `${remote} holds snapshot ${sequence} (${files(wanted)})`
      : `${remote} does not hold snapshot ${sequence}: ${counts} of ${files(wanted)}; the next upload repairs it`,
    ...foreignLines(foreign),
  ];
}

export const foreignLines = ({ files: found, total }: Foreign): string[] =>
  total === 0
    ? []
    : [`warning: no route leads to ${files(total)} there, left alone`, ...examples('foreign', found, total)];

export const headersLines = ({ unknownHeaders }: Uploaded): string[] =>
  unknownHeaders === 0
    ? []
    : [`warning: ${files(unknownHeaders)} of the right content were there; their headers were not compared`];

const examples = (what: string, found: readonly string[], total: number): string[] => [
  ...found.slice(0, SHOWN).map((file) => `  ${what}: ${file}`),
  ...(total > SHOWN ? [`  and ${number(total - SHOWN)} more`] : []),
];
