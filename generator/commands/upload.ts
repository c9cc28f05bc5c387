import type { Command } from 'commander';
import { EXIT } from '../errors.js';
import { Tree } from '../publish/tree.js';
import { jsonLine } from '../report.js';
import { foreignLines, headersLines, remoteLines, uploadedLines } from '../upload/report.js';
import { upload } from '../upload/upload.js';
import { verifyRemote } from '../upload/verify-remote.js';
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
        const found = await onTree(tree, terminal, { quiet, wait }, () =>
          verifyRemote(tree, to, progress(silent)),
        );
        const differs = found.missing.length + found.different.length + found.extra.length > 0;
        if (differs) exitWith(EXIT.invalid);
        if (json === true) say(jsonLine(found, cost()));
        else if (!silent || differs) for (const line of remoteLines(found)) say(line);
        return;
      }
      const result = await onTree(tree, terminal, { quiet, wait }, () => upload(tree, to, progress(silent)));
      if (json === true) say(jsonLine(result, cost()));
      else if (!silent) for (const line of uploadedLines(result, cost())) say(line);
      if (json === true) return;
      for (const line of [
        ...foreignLines(result.foreign ?? { files: [], total: 0 }),
        ...headersLines(result),
      ])
        warn(line);
    });
}
