import type { Command } from 'commander';
import { buildConfig } from '../config/config.js';
import { diff } from '../build/diff.js';
import { differenceLines, findingLines, jsonLine } from './report.js';
import { buildOptions } from './options.js';
import type { Common, Terminal } from './terminal.js';

export function addDiff(program: Command, { say, warn, effects, cost }: Terminal): void {
  buildOptions(program.command('diff'))
    .description(
      'Say which documents and feeds a build would add, change and remove, with examples. Nothing is written.',
    )
    .action(async ({ json, quiet, ...flags }: Common & Record<string, unknown>) => {
      const config = buildConfig(flags);
      const difference = await diff(config, effects(quiet === true));
      for (const line of findingLines(difference.report)) warn(line);
      if (json === true) say(jsonLine(difference, cost()));
      else for (const line of differenceLines(difference)) say(line);
    });
}
