/** All commands, in the order of `--help`. */
import type { Program } from './options.js';
import type { Terminal } from './terminal.js';

type Add = (program: Program, terminal: Terminal) => void;

const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  build: async () => (await import('./build.js')).addBuild,
  check: async () => (await import('./check.js')).addCheck,
  scaffold: async () => (await import('./scaffold.js')).addScaffold,
  diff: async () => (await import('./diff.js')).addDiff,
  status: async () => (await import('./status.js')).addStatus,
  verify: async () => (await import('./verify.js')).addVerify,
  edge: async () => (await import('./edge.js')).addEdge,
  sample: async () => (await import('./sample.js')).addSample,
};

/** Adds the command of a name without loading the others, or all if none has it. */
export async function addCommands(program: Program, terminal: Terminal, name: string): Promise<void> {
  const all = Object.entries(COMMANDS);
  const named = all.filter(([each]) => each === name);
  for (const [, load] of named.length === 0 ? all : named) (await load())(program, terminal);
}
