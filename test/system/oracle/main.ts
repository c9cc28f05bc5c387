/**
 * The oracle for as long as one likes: `node build/test/system/oracle/main.js [ROUNDS [SEED]]`.
 * A failure prints the seed and the shortest history that fails, and ends with 1.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { histories, play } from './play.js';

const [rounds = '100', seed = String(Date.now() % 1e9)] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'oracle-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const property = fc.asyncProperty(histories, async (history) => {
  const wrong = await play(join(folder, 'dist'), history);
  if (wrong !== undefined) throw new Error(wrong);
});
await fc.assert(property, { numRuns: Number(rounds), seed: Number(seed) });
process.stdout.write(`seed ${seed}: ${rounds} histories, none wrong\n`);
