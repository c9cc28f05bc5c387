/** `mirror`: copies a published tree by HTTP, and keeps the copy current. */
import { PATIENCE_MINUTES, RUN_MINUTES } from '../programs/mirror/bounds.js';
import { mirror, type Mirrored } from '../programs/mirror/mirror.js';
import { amountOf } from '../base/progress.js';
import { Tree } from '../tree/tree.js';
import {
  baseUrlOf,
  collect,
  outOption,
  OUTPUT,
  stateOption,
  waitOption,
  wholeFrom,
  type OnTree,
  type Program,
} from './options.js';
import { asOfText, costText, list, size, type RunCost } from './report.js';
import { onTree, print, type Terminal } from './terminal.js';
import { verifiersOf } from './verify-proof.js';

interface Flags extends OnTree {
  readonly key?: readonly string[];
  readonly patience: number;
  readonly withoutDownloads?: true;
}

export function addMirror(program: Program, terminal: Terminal): void {
  program
    .command('mirror')
    .with(outOption('the copy'), stateOption)
    .description('Make a copy of a published tree over HTTP, or bring it up to date.')
    .argument('<base-url>', 'where the tree is published, without a path', baseUrlOf)
    .option(
      '--key <key>',
      'a public key (NAME+ID+BASE64) of the signed log, or a file of such lines; once for each (default: those of the first copy)',
      collect,
    )
    .option(
      '--patience <minutes>',
      'end with 3 if nothing would arrive for so long, by the limits of the origin or otherwise',
      wholeFrom(1, RUN_MINUTES),
      PATIENCE_MINUTES,
    )
    .option(
      '--without-downloads',
      'leave out the bulk downloads, and delete those that the copy has; a run without it fetches them',
    )
    .examples(
      'mirror https://register.example --out copy',
      'mirror https://register.example --out copy --key register.pub',
      'mirror https://register.example --out copy --quiet   # from cron',
    )
    .with(waitOption, ...OUTPUT)
    .action(async (base: URL, flags: Flags) => {
      const { out, state, key = [], patience, withoutDownloads = false, json, quiet } = flags;
      const keys = key.flatMap(verifiersOf);
      const result = await onTree(terminal, flags, () =>
        mirror(base, new Tree(out, state), terminal.effects(quiet), {
          keys,
          patienceMinutes: patience,
          withoutDownloads,
        }),
      );
      const copied = withoutDownloads ? `${out}, but for its downloads,` : out;
      print(terminal, flags, result, (cost) => mirroredLines(copied, result, cost));
      if (json !== true) for (const line of warningsOf(result)) terminal.warn(line);
    });
}

const FETCHED: Readonly<Record<Mirrored['fetched'], string>> = {
  nothing: 'which it had already',
  changes: 'by its changes',
  everything: 'copied from the start',
};

function mirroredLines(
  out: string,
  { origin, sequence, digest, asOf, fetched, requests, bytes, changes, log }: Mirrored,
  cost: RunCost,
): string[] {
  return [
    `${out} equals ${origin}: snapshot ${sequence}, digest ${digest} (${asOfText(asOf)})`,
    `  fetched  ${amountOf(requests, 'requests')}, ${size(bytes)}, ${FETCHED[fetched]}`,
    ...(changes === null ? [] : [`  changes  ${list({ ...changes })}`]),
    ...(log === null
      ? []
      : [`  log      ${amountOf(log.size, 'entries')}, signed by ${log.signedBy.map(idOf).join(' and ')}`]),
    `  cost     ${costText(cost)}`,
  ];
}

/** `register.example+d15ba7e2` */
const idOf = (vkey: string): string => vkey.split('+').slice(0, 2).join('+');

const warningsOf = ({ log, sequence }: Mirrored): string[] => [
  ...(log === null || log.isSigned
    ? []
    : [`warning: snapshot ${sequence} is not in the signed log yet, only the one before it is`]),
  ...(log?.unknownKeys ?? []).map(
    (key) =>
      `warning: the origin names another key of its log, "${key}": if its operator confirms it, give it with --key, along with those that stay`,
  ),
];
