import type { Command } from 'commander';
import { buildConfig } from '../config/config.js';
import { diff } from '../build/diff.js';
import { rendering } from './options.js';
import type { Common } from './options.js';
import { differenceLines, findingLines } from './report.js';
import { print } from './terminal.js';
import type { Terminal } from './terminal.js';

export function addDiff(program: Command, terminal: Terminal): void {
  rendering(program.command('diff'))
    .description(
      'Say which documents and feeds a build would add, change and remove, with examples. Nothing is written.',
    )
    .action(async ({ json, quiet, ...flags }: Common & Record<string, unknown>) => {
      const difference = await diff(buildConfig(flags), terminal.effects(quiet));
      for (const line of findingLines(difference.report)) terminal.warn(line);
      // The difference is what was asked for, also with --quiet.
      print(terminal, { ...(json && { json }) }, difference, () => differenceLines(difference));
    });
}
