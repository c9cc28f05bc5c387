import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { mirror } from '../mirror/mirror.js';
import type { Mirrored } from '../mirror/mirror.js';
import { number } from '../progress.js';
import { Tree } from '../publish/tree.js';
import { asOfText, costText, jsonLine, size } from '../report.js';
import type { Cost } from '../report.js';
import { jsonOption, onTree, outOption, quietOption, stateOption, waitOption } from './terminal.js';
import type { Common, Terminal, Waiting } from './terminal.js';

interface Flags extends Common, Waiting {
  readonly out: string;
  readonly state?: string;
}

export function addMirror(program: Command, terminal: Terminal): void {
  const { say, effects, cost } = terminal;
  program
    .command('mirror')
    .description('Make a copy of a published tree over HTTP, or bring it up to date.')
    .argument('<base-url>', 'where the tree is published, without a path', baseUrl)
    .addOption(outOption('the copy'))
    .addOption(stateOption())
    .addOption(waitOption())
    .addOption(jsonOption())
    .addOption(quietOption())
    .addHelpText(
      'after',
      `
Examples
  $ npm run snapshot -- mirror https://register.example --out copy
  $ npm run snapshot -- mirror https://register.example --out copy --quiet   # from cron`,
    )
    .action(async (base: URL, { out, state, wait, json, quiet }: Flags) => {
      const tree = new Tree(out, state);
      const result = await onTree(tree, terminal, { quiet, wait }, () =>
        mirror(base, tree, effects(quiet === true)),
      );
      if (json === true) say(jsonLine(result, cost()));
      else if (quiet !== true) for (const line of mirroredLines(out, result, cost())) say(line);
    });
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
  { origin, sequence, digest, asOf, fetched, requests, bytes, changes }: Mirrored,
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
    `  cost     ${costText(cost)}`,
  ];
}
