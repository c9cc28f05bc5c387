/** Builds from one register to the other and back, killed and interrupted. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Dice } from '../../../data/sample/dice.js';
import { buildWhole, difference, killBuild, leftovers, published } from './kill.js';
import type { Phase } from './kill.js';

const SIGNALS = ['SIGKILL', 'SIGINT', 'SIGTERM'] as const;

/** @param args two registers, how many kills, a folder, the seed @returns the first thing that went wrong */
export async function kills(
  [a = '', b = '', count = '200', folder = '', seed = '1']: readonly string[],
  say: (line: string) => void,
): Promise<readonly string[]> {
  const dice = new Dice(Number(seed), 'crash', 0);
  mkdirSync(folder, { recursive: true });
  const registers = [a, b] as const;
  const expected: Map<string, string>[] = [];
  for (const [index, register] of registers.entries()) {
    const out = join(folder, `expected-${index}`);
    await buildWhole(register, out);
    expected.push(published(out));
  }
  const out = join(folder, 'tree');
  await buildWhole(a, out);
  const startedAt = performance.now();
  await buildWhole(b, out);
  const buildMs = performance.now() - startedAt;
  say(`a build from one to the other takes ${Math.round(buildMs)} ms`);

  const phases: Record<Phase, number> = {
    'before the commit': 0,
    'within the commit': 0,
    'after the commit': 0,
  };
  let at = 1;
  for (let kill = 1; kill <= Number(count); kill += 1) {
    const to = 1 - at;
    const register = registers[to] ?? a;
    const inCommit = kill % 2 === 0;
    const signal = SIGNALS[dice.below(SIGNALS.length)] ?? 'SIGKILL';
    const afterMs = dice.below(inCommit ? 300 : Math.ceil(buildMs * 1.1));
    const { phase } = await killBuild(register, out, afterMs, inCommit, [], signal);
    if (signal !== 'SIGKILL' && phase === 'within the commit')
      return [`${signal} ${kill} left a commit half done`];
    phases[phase] += 1;
    const differs = (from: number): string | undefined =>
      difference(published(out), expected[from] ?? new Map<string, string>());
    const atOnce =
      phase === 'within the commit' ? undefined : differs(phase === 'before the commit' ? at : to);
    if (atOnce !== undefined) return [`kill ${kill} ${phase}, at once: ${atOnce}`];
    if (kill % 3 === 0 && phase === 'before the commit') continue;
    await buildWhole(register, out);
    const next = differs(to);
    if (next !== undefined) return [`kill ${kill} ${phase}, after the next build: ${next}`];
    const left = leftovers(out);
    if (left.length > 0) return [`kill ${kill} ${phase}: left behind ${left.join(', ')}`];
    at = to;
    if (kill % 10 === 0) say(`${kill} kills: ${JSON.stringify(phases)}`);
  }
  say(`${count} kills and interrupts, never a third state: ${JSON.stringify(phases)}`);
  return [];
}
