import type { Command } from 'commander';
import { EXIT } from '../errors.js';
import { check } from '../register/check.js';
import { Register } from '../register/database.js';
import { countRows, warningsOf } from '../register/warnings.js';
import { brokenLine, findingLines, jsonLine, soundLines } from '../report.js';
import type { Sound } from '../report.js';
import { jsonOption, quietOption, registerOption } from './terminal.js';
import type { Common, Terminal } from './terminal.js';

export function addCheck(program: Command, { say, progress, cost, exitWith }: Terminal): void {
  program
    .command('check')
    .description('Check the register against its contract, without publishing.')
    .addOption(registerOption())
    .addOption(jsonOption())
    .addOption(quietOption())
    .action(async ({ register: file, json, quiet }: Common & { register: string }) => {
      const register = Register.open(file);
      try {
        const shown = progress(quiet === true);
        const report = await check(register, shown, false);
        if (report.total > 0) exitWith(EXIT.invalid);
        const { total, findings } = report;
        const sound = total === 0 ? await shown.blocking(() => soundOf(register)) : undefined;
        if (json === true) say(jsonLine({ register: file, total, findings, ...sound }, cost()));
        else if (sound === undefined) {
          for (const line of findingLines(report)) say(line);
          say(brokenLine(file, report, cost()));
        } else if (quiet !== true) for (const line of soundLines(file, sound, cost())) say(line);
      } finally {
        register.close();
      }
    });
}

function soundOf(register: Register): Sound {
  const counts = countRows(register);
  return { counts, absent: register.absent, warnings: warningsOf(register, counts) };
}
