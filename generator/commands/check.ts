import type { Command } from 'commander';
import { notMeasuredBy } from '../config/config.js';
import { EXIT } from '../errors.js';
import { check } from '../register/check.js';
import type { Register } from '../register/database.js';
import { countRows, warningsOf } from '../register/warnings.js';
import { inThreads, stepsIn } from '../build/workers/threads.js';
import { OUTPUT, operatorOption, registerOption, withOptions } from './options.js';
import type { Common } from './options.js';
import { brokenLine, findingLines, soundLines } from './report.js';
import type { Sound } from './report.js';
import { print } from './terminal.js';
import type { Terminal } from './terminal.js';

interface Flags extends Common {
  readonly register: string;
  readonly operator: string;
}

export function addCheck(program: Command, terminal: Terminal): void {
  const operator = operatorOption('what does not count as measured (not_measured)');
  withOptions(program.command('check'), registerOption, operator, ...OUTPUT)
    .description('Check the register against its contract, without publishing.')
    .action(async ({ register: file, operator, json, quiet }: Flags) => {
      const source = { file, notMeasured: notMeasuredBy(operator) };
      const shown = terminal.progress(quiet);
      const { report, sound } = await inThreads(source, terminal.startPool, async (register, pool) => {
        const report = await check(register, shown, false, 'all', stepsIn(pool));
        const sound = report.total === 0 ? await shown.blocking(() => soundOf(register)) : undefined;
        return { report, sound };
      });
      const { total, findings } = report;
      if (total > 0) terminal.exitWith(EXIT.invalid);
      // Errors are shown also with --quiet.
      const flags = { ...(json && { json }), ...(total === 0 && { quiet }) };
      print(terminal, flags, { register: file, total, findings, ...sound }, (cost) =>
        sound === undefined
          ? [...findingLines(report), brokenLine(file, report, cost)]
          : soundLines(file, sound, cost),
      );
    });
}

function soundOf(register: Register): Sound {
  const counts = countRows(register);
  return { counts, absent: register.absent, warnings: warningsOf(register, counts) };
}
