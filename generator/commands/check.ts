/** `check`: says where a register breaks the contract, and what looks like a mistake. */
import { notMeasuredBy } from '../config/config.js';
import { check } from '../register/check.js';
import { Register } from '../register/database.js';
import { Watcher } from '../register/snapshot.js';
import { markWithheld } from '../register/overview.js';
import { ODD_VALUES, countRows, lateWarnings, warningsOf } from '../register/warnings.js';
import { RESOURCES, WITHHELD } from '../schema/schema.js';
import { EXIT } from '../base/errors.js';
import { amountOf, number, type Progress } from '../base/progress.js';
import { operatorOption, OUTPUT, registerOption, type Common, type Program } from './options.js';
import { brokenLine, costText, findingLines, notMeasured, warningLines, type RunCost } from './report.js';
import { print, withoutQuiet, type Terminal } from './terminal.js';

interface Flags extends Common {
  readonly register: string;
  readonly operator: string;
}

export function addCheck(program: Program, terminal: Terminal): void {
  const operator = operatorOption('what does not count as measured (not_measured)');
  program
    .command('check')
    .with(registerOption, operator, ...OUTPUT)
    .description('Check the register against its contract, without publishing.')
    .action(async (flags: Flags) => {
      const { register: file, operator, quiet } = flags;
      const shown = terminal.progress(quiet);
      const { report, summary } = await checkFile(file, notMeasuredBy(operator), terminal, shown);
      const { total, findings } = report;
      const facts = { register: file, total, findings, ...summary };
      if (summary !== undefined) {
        print(terminal, flags, facts, (cost) => summaryLines(file, summary, cost));
        return;
      }
      print(terminal, withoutQuiet(flags), facts, (cost) => [
        ...findingLines(report),
        brokenLine(file, report, cost),
      ]);
      terminal.exitWith(EXIT.invalid);
    });
}

/** Checks a register in threads, all of which read it at one state, and sums up what keeps the contract. */
async function checkFile(
  file: string,
  notMeasured: readonly string[],
  { startThreads, now }: Terminal,
  shown: Progress,
) {
  const watcher = new Watcher(file);
  const register = Register.open(file, notMeasured);
  const threads = startThreads({ file, notMeasured });
  try {
    await watcher.openAll([register, ...threads.connections], now());
    const report = await check(register, shown, false, (step, onStart) =>
      threads.run('takeStep', step, { onStart }),
    );
    const summary =
      report.total === 0 ? await shown.blocking(() => summaryOf(register), ODD_VALUES) : undefined;
    return { report, summary };
  } finally {
    await threads.close();
    register.close();
    watcher.close();
  }
}

/** The rows of a register that keeps the contract, what is not measured, and what looks like a mistake. */
function summaryOf(register: Register) {
  markWithheld(register);
  const counts = countRows(register);
  return {
    counts,
    absent: register.absent,
    warnings: [...warningsOf(register, counts), ...lateWarnings(register)],
  };
}

function summaryLines(
  register: string,
  { counts, absent, warnings }: ReturnType<typeof summaryOf>,
  cost: RunCost,
): string[] {
  const missing = notMeasured(absent);
  // `group_names` -> `1 group name`, `2 group names`
  const rows = (table: string): string => amountOf(counts[table] ?? 0, table.replaceAll('_', ' '));
  return [
    `"${register}" keeps the contract (${costText(cost)})`,
    ...RESOURCES.map(({ plural, histories }) =>
      [plural, ...histories.map(({ table }) => table)].filter((table) => table in counts),
    ).flatMap((tables) => (tables.length === 0 ? [] : [`  ${tables.map(rows).join(', ')}`])),
    absent.includes(WITHHELD.name)
      ? '  no withheld: nothing is withheld'
      : `  ${number(counts[WITHHELD.name] ?? 0)} withheld`,
    ...(missing.length === 0 ? [] : [`  not measured: ${missing.join(', ')}`]),
    ...warningLines(warnings),
  ];
}
