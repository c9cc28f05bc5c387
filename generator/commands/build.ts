import type { Command } from 'commander';
import { build } from '../build/build.js';
import { buildConfig } from '../config/config.js';
import { EXIT } from '../errors.js';
import { withLog } from '../log/around-commit.js';
import { rendering, waitOption, witnessOption } from './options.js';
import type { Common, Waiting } from './options.js';
import {
  brokenLine,
  excludedLines,
  findingLines,
  isNews,
  jsonLine,
  publishedLines,
  warningLines,
} from './report.js';
import { onTree } from './terminal.js';
import type { Terminal } from './terminal.js';

export function addBuild(program: Command, terminal: Terminal): void {
  const { say, warn, cost, exitWith } = terminal;
  rendering(program.command('build'))
    .description('Check the register, render every response, and publish what changed.')
    .option('--accept-removals', 'publish even if more would be lost than the removal guard lets pass')
    .option(
      '--keep-downloads',
      'leave the bulk downloads as they were last written; they say as of when, and the next build without this writes them',
    )
    .addOption(witnessOption)
    .addOption(waitOption)
    .option('--purge-list <file>', 'write the absolute URLs whose answer changed, for a CDN')
    .option('--files-from <file>', 'write the files that changed, for rclone or rsync')
    .option('--delete-from <file>', 'write the files that are gone, which a copy must delete')
    .action(async ({ json, quiet, wait, ...flags }: Common & Waiting & Record<string, unknown>) => {
      const config = buildConfig(flags);
      const effects = terminal.effects(quiet);
      const result = await onTree(terminal, { quiet, wait }, () =>
        withLog(config, effects, (log) => build(config, effects, log)),
      );
      for (const line of findingLines(result.report)) warn(line);
      if (json === true) say(jsonLine({ ...result, published: result.published && isNews(result) }, cost()));
      if (!result.published) {
        warn(`${brokenLine(config.register, result.report, cost())}; nothing was published`);
        exitWith(EXIT.invalid);
        return;
      }
      const { report, rewritten, warnings } = result;
      for (const line of [
        ...(report.total > 0 ? excludedLines(result) : []),
        ...warningLines([...rewritten, ...(quiet === true ? [] : warnings)]),
      ])
        warn(line);
      if (json === true || quiet === true) return;
      for (const line of publishedLines(config.out, result, cost())) say(line);
    });
}
