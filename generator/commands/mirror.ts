import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { Failure } from '../errors.js';
import type { Verifier } from '../keys.js';
import type { Mirrored } from '../mirror/mirror.js';
import { number } from '../progress.js';
import { Tree } from '../tree/tree.js';
import { asOfText, costText, jsonLine, size } from './report.js';
import type { Cost } from './report.js';
import { jsonOption, onTree, outOption, quietOption, stateOption, waitOption } from './terminal.js';
import type { Common, Terminal, Waiting } from './terminal.js';
import { verifiersOf } from './verifier-keys.js';

interface Flags extends Common, Waiting {
  readonly out: string;
  readonly state?: string;
  readonly key?: readonly string[];
}

export function addMirror(program: Command, terminal: Terminal): void {
  const { say, warn, effects, cost } = terminal;
  program
    .command('mirror')
    .description('Make a copy of a published tree over HTTP, or bring it up to date.')
    .argument('<base-url>', 'where the tree is published, without a path', baseUrl)
    .addOption(outOption('the copy'))
    .addOption(stateOption())
    .option(
      '--key <key>',
      'a public key (NAME+ID+BASE64) of the signed log, or a file of such lines; once for each (default: those of the first copy)',
      (key: string, others: readonly string[] | undefined) => [...(others ?? []), key],
    )
    .addOption(waitOption())
    .addOption(jsonOption())
    .addOption(quietOption())
    .addHelpText(
      'after',
      `
Examples
  $ npm run snapshot -- mirror https://register.example --out copy
  $ npm run snapshot -- mirror https://register.example --out copy --key register.pub
  $ npm run snapshot -- mirror https://register.example --out copy --quiet   # from cron`,
    )
    .action(async (base: URL, { out, state, key = [], wait, json, quiet }: Flags) => {
      const tree = new Tree(out, state);
      const keys = key.flatMap(logKeysOf);
      // The HTTP client takes 100 ms to load, which the other commands save.
      const { mirror } = await import('../mirror/mirror.js');
      const result = await onTree(terminal, { quiet, wait }, () =>
        mirror(base, tree, effects(quiet === true), keys),
      );
      if (json === true) say(jsonLine(result, cost()));
      else if (quiet !== true) for (const line of mirroredLines(out, result, cost())) say(line);
      if (json !== true) for (const line of warningsOf(result)) warn(line);
    });
}

/** @throws Failure usage, environment */
function logKeysOf(given: string): readonly Verifier[] {
  const keys = verifiersOf(given);
  if (keys.every(({ type }) => type === 'note')) return keys;
  throw Failure.usage(`"${given}" (--key) has the key of a witness, expected that of a log`);
}

/** @throws InvalidArgumentError */
function baseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.href === `${url.origin}/`)
    return url;
  const isHost = /^[\w.-]+(:\d+)?$/.test(text);
  throw new InvalidArgumentError(
    'Expected an http or https URL without a path, user name or query' +
      (isHost ? ` (did you mean https://${text}?).` : '.'),
  );
}

const FETCHED: Readonly<Record<Mirrored['fetched'], string>> = {
  nothing: 'which it had already',
  changes: 'by its changes',
  everything: 'copied from the start',
};

function mirroredLines(
  out: string,
  { origin, sequence, digest, asOf, fetched, requests, bytes, changes, log }: Mirrored,
  cost: Cost,
): string[] {
  return [
    `${out} equals ${origin}: snapshot ${sequence}, digest ${digest} (${asOfText(asOf)})`,
    `  fetched  ${number(requests)} ${requests === 1 ? 'request' : 'requests'}, ${size(bytes)}, ${FETCHED[fetched]}`,
    ...(changes === null
      ? []
      : [
          `  changes  ${Object.entries(changes)
            .map(([what, count]) => `${number(count)} ${what}`)
            .join(', ')}`,
        ]),
    ...(log === null
      ? []
      : [
          `  log      ${number(log.size)} ${log.size === 1 ? 'entry' : 'entries'}, signed by ${log.signedBy.map(idOf).join(' and ')}`,
        ]),
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
