/**
 * The long crash run, on registers of any size: kills and interrupts builds that lead from one register to the other
 * and back.
 *   node build/test/system/soak/crash.js A.sqlite B.sqlite KILLS FOLDER [SEED]
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Dice } from '../../../data/sample/dice.js';
import { buildWhole, difference, killBuild, leftovers, published } from './kill.js';
import type { Phase } from './kill.js';

const [a, b, kills, folder, seed = '1'] = process.argv.slice(2);
if (a === undefined || b === undefined || kills === undefined || folder === undefined) {
  throw new Error('usage: main.js A.sqlite B.sqlite KILLS FOLDER [SEED]');
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const dice = new Dice(Number(seed), 'crash', 0);
mkdirSync(folder, { recursive: true });

async function expectedOf(register: string, name: string): Promise<Map<string, string>> {
  const out = join(String(folder), name);
  await buildWhole(register, out);
  return published(out);
}

const SIGNALS = ['SIGKILL', 'SIGINT', 'SIGTERM'] as const;
const registers = [a, b];
const expected = [await expectedOf(a, 'a'), await expectedOf(b, 'b')];
const out = join(folder, 'tree');
await buildWhole(a, out);
const startedAt = performance.now();
await buildWhole(b, out);
const buildMs = performance.now() - startedAt;
say(`a build from one to the other takes ${Math.round(buildMs)} ms`);

let at = 1;
const phases: Record<Phase, number> = {
  'before the commit': 0,
  'within the commit': 0,
  'after the commit': 0,
};
for (let kill = 1; kill <= Number(kills); kill += 1) {
  const to = 1 - at;
  const inCommit = kill % 2 === 0;
  const signal = SIGNALS[dice.below(SIGNALS.length)] ?? 'SIGKILL';
  const { phase } = await killBuild(
    String(registers[to]),
    out,
    dice.below(inCommit ? 300 : Math.ceil(buildMs * 1.1)),
    inCommit,
    [],
    signal,
  );
  if (signal !== 'SIGKILL' && phase === 'within the commit')
    throw new Error(`${signal} ${kill} left a commit half done`);
  phases[phase] += 1;
  const must = (state: 'old' | 'new', when: string): void => {
    const differs = difference(
      published(out),
      expected[state === 'old' ? at : to] ?? new Map<string, string>(),
    );
    if (differs !== undefined)
      throw new Error(`kill ${kill} ${phase}, ${when}: expected the ${state} tree, but ${differs}`);
  };
  if (phase === 'before the commit') must('old', 'at once');
  if (phase === 'after the commit') must('new', 'at once');
  if (kill % 3 === 0 && phase === 'before the commit') continue;
  await buildWhole(String(registers[to]), out);
  must('new', 'after the next build');
  const left = leftovers(out);
  if (left.length > 0) throw new Error(`kill ${kill} ${phase}: left behind ${left.join(', ')}`);
  at = to;
  if (kill % 10 === 0) say(`${kill} kills: ${JSON.stringify(phases)}`);
}
say(`${kills} kills and interrupts, never a third state: ${JSON.stringify(phases)}`);
