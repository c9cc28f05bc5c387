/** `upload`: brings a copy elsewhere up to the tree. */
import { amountOf, number } from '../base/progress.js';
import { Tree } from '../tree/tree.js';
import { verifyRemote, type RemoteReport, type Untracked } from '../programs/upload/compare.js';
import { upload, type Uploaded } from '../programs/upload/upload.js';
import { outOption, OUTPUT, stateOption, waitOption, type OnTree, type Program } from './options.js';
import { costText, size, type RunCost } from './report.js';
import { onTree, print, type Terminal } from './terminal.js';

interface Flags extends OnTree {
  readonly to: string;
  readonly verify?: true;
}

export function addUpload(program: Program, terminal: Terminal): void {
  const { warn, progress } = terminal;
  program
    .command('upload')
    .with(outOption(), stateOption)
    .description('Bring object storage, or a folder elsewhere, up to the tree with rclone.')
    .requiredOption('--to <remote>', 'NAME:BUCKET/PREFIX, with NAME of the configuration of rclone')
    .option('--verify', 'compare what is there with the tree, and change nothing')
    .examples(
      'upload --out dist --to storage:bucket/prefix',
      'upload --out dist --to storage:bucket/prefix --verify',
    )
    .with(waitOption, ...OUTPUT)
    .action(async (flags: Flags) => {
      const { out, state, to, verify, json, quiet } = flags;
      const tree = new Tree(out, state);
      if (verify === true) {
        const found = await onTree(terminal, flags, () => verifyRemote(tree, to, progress(quiet)));
        const differs = found.missing.length + found.different.length + found.extra.length > 0;
        print(terminal, flags, found, () => remoteLines(found), !differs);
        return;
      }
      const result = await onTree(terminal, flags, () => upload(tree, to, progress(quiet)));
      print(terminal, flags, result, (cost) => uploadedLines(result, cost));
      if (json !== true) for (const line of warningsOf(result)) warn(line);
    });
}

/** How many files of a kind are shown. */
const SHOWN = 5;

const files = (count: number): string => amountOf(count, 'files');

function uploadedLines(
  { remote, sequence, written, bytes, deleted, unchanged }: Uploaded,
  cost: RunCost,
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
    ...kinds.flatMap((kind) => exampleLines(kind, found[kind], found[kind].length)),
    kinds.length === 0
      ? `${remote} holds snapshot ${sequence} (${files(wanted)})`
      : `${remote} does not hold snapshot ${sequence}: ${counts} of ${files(wanted)}; the next upload repairs it`,
    ...untrackedLines(untracked),
  ];
}

const untrackedLines = ({ total, examples: some }: Untracked): string[] =>
  total === 0
    ? []
    : [
        `warning: no route leads to ${files(total)} there, left alone`,
        ...exampleLines('untracked', some, total),
      ];

const warningsOf = ({ untracked, unknownHeaders }: Uploaded): string[] => [
  ...(untracked === null ? [] : untrackedLines(untracked)),
  ...(unknownHeaders === 0
    ? []
    : [`warning: ${files(unknownHeaders)} of the right content were there; their headers were not compared`]),
];

const exampleLines = (what: string, found: readonly string[], total: number): string[] => [
  ...found.slice(0, SHOWN).map((file) => `  ${what}: ${file}`),
  ...(total > SHOWN ? [`  and ${number(total - SHOWN)} more`] : []),
];
