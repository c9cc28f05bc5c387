import type { Command } from 'commander';
import { DEFAULTS, notMeasuredBy } from '../config/config.js';
import { EXIT } from '../errors.js';
import { check } from '../register/check.js';
import type { Register } from '../register/database.js';
import { countRows, warningsOf } from '../register/warnings.js';
import { brokenLine, findingLines, jsonLine, soundLines } from './report.js';
import type { Sound } from './report.js';
import { inThreads, stepsIn } from '../build/workers/threads.js';
import { jsonOption, quietOption, registerOption } from './terminal.js';
import type { Common, Terminal } from './terminal.js';

interface Options extends Common {
  readonly register: string;
  readonly operator: string;
}

export function addCheck(program: Command, { say, progress, startPool, cost, exitWith }: Terminal): void {
  program
    .command('check')
    .description('Check the register against its contract, without publishing.')
    .addOption(registerOption())
    .option('--operator <file>', 'what does not count as measured (not_measured)', DEFAULTS.operator)
    .addOption(jsonOption())
    .addOption(quietOption())
    .action(async ({ register: file, operator, json, quiet }: Options) => {
      const source = { file, notMeasured: notMeasuredBy(operator) };
      const shown = progress(quiet === true);
      const { report, sound } = await inThreads(source, startPool, async (register, pool) => {
        const report = await check(register, shown, false, 'all', stepsIn(pool));
        const sound = report.total === 0 ? await shown.blocking(() => soundOf(register)) : undefined;
        return { report, sound };
      });
      const { total, findings } = report;
      if (total > 0) exitWith(EXIT.invalid);
      if (json === true) say(jsonLine({ register: file, total, findings, ...sound }, cost()));
      else if (sound === undefined) {
        for (const line of findingLines(report)) say(line);
        say(brokenLine(file, report, cost()));
      } else if (quiet !== true) for (const line of soundLines(file, sound, cost())) say(line);
    });
}

function soundOf(register: Register): Sound {
  const counts = countRows(register);
  return { counts, absent: register.absent, warnings: warningsOf(register, counts) };
}
