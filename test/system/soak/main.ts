/** The long runs: see README.md. */
import { hostile } from './hostile.js';
import { pipelined } from './pipelined.js';

const RUNS = new Map(Object.entries({ hostile, pipelined }));
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const [name = '', ...args] = process.argv.slice(2);
const run = RUNS.get(name);
if (run === undefined)
  throw new Error(`usage: main.js ${[...RUNS.keys()].join('|')} ARGUMENTS (see README.md)`);
const faults = await run(args, say);
for (const fault of faults.slice(0, 20)) say(`FAULT ${fault}`);
say(`${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);
