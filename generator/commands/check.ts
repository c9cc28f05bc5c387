import type { Command } from 'commander';
import { EXIT } from '../errors.js';
import { check } from '../register/check.js';
import { Register } from '../register/database.js';
import { checkedLine, findingLines, jsonLine } from '../report.js';
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
        const report = await check(register, progress(quiet === true), false);
        if (report.total > 0) exitWith(EXIT.invalid);
        if (json === true) {
          const { findings, more, total } = report;
          say(jsonLine({ register: file, total, findings, more }, cost()));
          return;
        }
        for (const line of findingLines(report)) say(line);
        if (quiet !== true || report.total > 0) say(checkedLine(file, report, cost()));
      } finally {
        register.close();
      }
    });
}
