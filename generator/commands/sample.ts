/** `sample`: writes a fictional register. */
import { existsSync } from 'node:fs';
import { MOST_RECORDS, writeSample } from '../../data/sample.js';
import { DEFAULTS } from '../config/config.js';
import { Failure, messageOf } from '../base/errors.js';
import { amountOf } from '../base/progress.js';
import { isSqliteError, reasonOf } from '../base/sqlite/sqlite.js';
import { OUTPUT, wholeFrom, type Common, type Program } from './options.js';
import { size } from './report.js';
import { print, type Terminal } from './terminal.js';

/** Enough to see everything, and quick to write. */
const SAMPLE_RECORDS = 5000;

interface Flags extends Common {
  readonly out: string;
  readonly records: number;
  readonly seed: number;
  readonly ifMissing?: true;
}

export function addSample(program: Program, terminal: Terminal): void {
  program
    .command('sample')
    .description('Write a fictional register of any size, the same for the same size and seed.')
    .option('--out <file>', 'the register to write, which must not exist', DEFAULTS.register)
    .option(
      '--records <n>',
      'groups, users, games and items together',
      wholeFrom(0, MOST_RECORDS),
      SAMPLE_RECORDS,
    )
    .option(
      '--seed <n>',
      'which of the many registers of this size',
      wholeFrom(0, Number.MAX_SAFE_INTEGER),
      1,
    )
    .option('--if-missing', 'do nothing where the file exists')
    .with(...OUTPUT)
    .action(async (flags: Flags) => {
      const { out: file, records, seed, ifMissing } = flags;
      if (existsSync(file)) {
        if (ifMissing === true) return;
        throw Failure.environment(`"${file}" exists, expected a new file`);
      }
      const shown = terminal.progress(flags.quiet);
      shown.start('writing a sample register', records, 'records');
      let done = 0;
      const summary = await writeSample({
        file,
        records,
        seed,
        onProgress: async (now) => {
          const step = now - done;
          done = now;
          await shown.advance(step);
        },
      }).catch((error: unknown) => {
        if (error instanceof Failure) throw error;
        const why = isSqliteError(error) ? reasonOf(error) : messageOf(error);
        throw Failure.environment(`"${file}" can't be written: ${why}`);
      });
      shown.finish();
      print(terminal, flags, { register: file, seed, ...summary }, () => [
        `Wrote ${amountOf(records, 'fictional records')} (${amountOf(summary.rows, 'rows')}, ${size(summary.bytes)}) to ${file}`,
      ]);
    });
}
