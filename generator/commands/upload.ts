import type { Command } from 'commander';
import { EXIT } from '../errors.js';
import { number } from '../progress.js';
import { Tree } from '../tree/tree.js';
import { costText, jsonLine, size } from './report.js';
import type { Cost } from './report.js';
import { verifyRemote } from '../upload/compare.js';
import type { RemoteReport, Untracked } from '../upload/compare.js';
import { upload } from '../upload/upload.js';
import type { Uploaded } from '../upload/upload.js';
import { jsonOption, onTree, outOption, quietOption, stateOption, waitOption } from './terminal.js';
import type { Common, Terminal, Waiting } from './terminal.js';

interface Flags extends Common, Waiting {
  readonly out: string;
  readonly state?: string;
  readonly to: string;
  readonly verify?: true;
}

export function addUpload(program: Command, terminal: Terminal): void {
  const { say, warn, progress, cost, exitWith } = terminal;
  program
    .command('upload')
    .description('Bring object storage (rclone) or a folder elsewhere (rsync) up to the tree.')
    .addOption(outOption())
    .addOption(stateOption())
    .requiredOption(
      '--to <remote>',
      'NAME:BUCKET/PREFIX of the configuration of rclone, or rsync:DESTINATION',
    )
    .option('--verify', 'compare what is there with the tree, and change nothing')
    .addOption(waitOption())
    .addOption(jsonOption())
    .addOption(quietOption())
    .addHelpText(
      'after',
      `
Examples
  $ npm run snapshot -- upload --out dist --to storage:bucket/prefix
  $ npm run snapshot -- upload --out dist --to rsync:host:/srv/copy
  $ npm run snapshot -- upload --out dist --to rsync:/srv/copy --verify`,
    )
    .action(async ({ out, state, to, verify, wait, json, quiet }: Flags) => {
      const silent = quiet === true;
      const tree = new Tree(out, state);
      if (verify === true) {
        const found = await onTree(terminal, { quiet, wait }, () => verifyRemote(tree, to, progress(silent)));
        const differs = found.missing.length + found.different.length + found.extra.length > 0;
        if (differs) exitWith(EXIT.invalid);
        if (json === true) say(jsonLine(found, cost()));
        else if (!silent || differs) for (const line of remoteLines(found)) say(line);
        return;
      }
      const result = await onTree(terminal, { quiet, wait }, () => upload(tree, to, progress(silent)));
      if (json === true) say(jsonLine(result, cost()));
      else if (!silent) for (const line of uploadedLines(result, cost())) say(line);
      if (json === true) return;
      for (const line of [
        ...untrackedLines(result.untracked ?? { total: 0, examples: [] }),
        ...headersLines(result),
      ])
        warn(line);
    });
}

/** How many files of a kind are shown. */
const SHOWN = 5;

const files = (count: number): string => `${number(count)} ${count === 1 ? 'file' : 'files'}`;

function uploadedLines(
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

function remoteLines({ remote, sequence, files: wanted, untracked, ...found }: RemoteReport): string[] {
  const kinds = (['missing', 'different', 'extra'] as const).filter((kind) => found[kind].length > 0);
  const counts = kinds.map((kind) => `${number(found[kind].length)} ${kind}`).join(', ');
  return [
    ...kinds.flatMap((kind) => examples(kind, found[kind], found[kind].length)),
    kinds.length === 0
      ? `${remote} holds snapshot ${sequence} (${files(wanted)})`
      : `${remote} does not hold snapshot ${sequence}: ${counts} of ${files(wanted)}; the next upload repairs it`,
    ...untrackedLines(untracked),
  ];
}

const untrackedLines = ({ total, examples: some }: Untracked): string[] =>
  total === 0
    ? []
    : [`warning: no route leads to ${files(total)} there, left alone`, ...examples('untracked', some, total)];

const headersLines = ({ unknownHeaders }: Uploaded): string[] =>
  unknownHeaders === 0
    ? []
    : [`warning: ${files(unknownHeaders)} of the right content were there; their headers were not compared`];

const examples = (what: string, found: readonly string[], total: number): string[] => [
  ...found.slice(0, SHOWN).map((file) => `  ${what}: ${file}`),
  ...(total > SHOWN ? [`  and ${number(total - SHOWN)} more`] : []),
];
