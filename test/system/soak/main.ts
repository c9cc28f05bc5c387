/**
 * Long runs against the compiled proxy, which end with 1 if something went wrong:
 *     node build/test/system/soak/main.js hostile|pipelined COUNT SEED
 * `hostile` sends COUNT hostile requests; `pipelined` opens COUNT connections, whose clients
 * pipeline in pieces of any size, read slowly, late or never, and may leave.
 */
import { hostile } from './hostile.js';
import { pipelined } from './pipelined.js';

const [name = '', count = '10000', seed = '1'] = process.argv.slice(2);
if (name !== 'hostile' && name !== 'pipelined')
  throw new Error('usage: main.js hostile|pipelined COUNT SEED');
const run = name === 'hostile' ? hostile : pipelined;
const { faults } = await run(Number(count), Number(seed));
for (const line of [...faults.slice(0, 20).map((fault) => `FAULT ${fault}`), `${faults.length} faults`])
  process.stdout.write(`${line}\n`);
process.exit(faults.length > 0 ? 1 : 0);
