/**
 * The oracle for as long as one likes: `node build/test/system/oracle/main.js [--rounds N] [--seed S] [--ends N] [--minutes M]`.
 * With `--ends`, so many builds are killed or interrupted in each step. A failure prints the seed and the shortest
 * history that fails, and ends with 1.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { histories, play } from './play.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    ends: { type: 'string' },
    minutes: { type: 'string', default: 'Infinity' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'oracle-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let done = 0;
let steps = 0;
const ended = { killed: 0, interrupted: 0 };
const startedMs = performance.now();
const result = await fc.check(
  fc.asyncProperty(
    histories(values.ends === undefined ? undefined : Number(values.ends)),
    async (history) => {
      const wrong = await play(join(folder, 'dist'), history);
      done += 1;
      steps += history.steps.length;
      for (const { isKill } of history.steps.flatMap(({ ends }) => ends))
        ended[isKill ? 'killed' : 'interrupted'] += 1;
      if (done % 10 === 0)
        process.stderr.write(
          `${done} histories, ${steps} steps, ${ended.killed + ended.interrupted} ends, ${Math.round((performance.now() - startedMs) / 1000)} s\n`,
        );
      if (wrong !== undefined) throw new Error(wrong);
    },
  ),
  {
    numRuns: Number(values.rounds),
    seed: Number(values.seed),
    markInterruptAsFailure: false,
    ...(values.minutes !== 'Infinity' && { interruptAfterTimeLimit: Number(values.minutes) * 60_000 }),
  },
);
process.stdout.write(
  `seed ${values.seed}: ${done} histories, ${steps} steps, ${ended.killed} builds killed, ${ended.interrupted} interrupted\n`,
);
if (result.failed) {
  const [history] = result.counterexample ?? [];
  process.stdout.write(`${String(result.errorInstance)}\n${JSON.stringify(history)}\n`);
  process.exitCode = 1;
}
