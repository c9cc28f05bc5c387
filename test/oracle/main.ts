/**
 * The oracle for as long as one likes: `node build/test/oracle/main.js [--rounds N] [--seed S]`. A failure prints the
 * seed and the shortest history that fails, and ends with 1.
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
  },
});
const folder = mkdtempSync(join(tmpdir(), 'oracle-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let done = 0;
let steps = 0;
const startedMs = performance.now();
const result = await fc.check(
  fc.asyncProperty(histories, async (history) => {
    const wrong = await play(join(folder, 'dist'), history);
    done += 1;
    steps += history.steps.length;
    if (done % 10 === 0)
      process.stderr.write(
        `${done} histories, ${steps} steps, ${Math.round((performance.now() - startedMs) / 1000)} s\n`,
      );
    if (wrong !== undefined) throw new Error(wrong);
  }),
  { numRuns: Number(values.rounds), seed: Number(values.seed) },
);
process.stdout.write(`seed ${values.seed}: ${done} histories, ${steps} steps\n`);
if (result.failed) {
  const [history] = result.counterexample ?? [];
  process.stdout.write(`${String(result.errorInstance)}\n${JSON.stringify(history)}\n`);
  process.exitCode = 1;
}
