/** What a thread runs: it opens its own connection to the register, and does one job after the other. */
import { getPriority, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Failure } from '../errors.js';
import { Register } from '../register/database.js';
import { perform } from './jobs.js';
import type { Call, JobName, Reply } from './jobs.js';

/** How much nicer threads are than the main one, as far as niceness goes. */
const NICER = 5;
const NICEST = 19;

/**
 * Has this thread give way to the main one, which shows how far the work is and takes signals. Only on Linux is
 * niceness that of a thread (setpriority(2), "C library/kernel differences"); elsewhere the whole process would give
 * way to others.
 */
function giveWay(): void {
  if (platform() !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + NICER, NICEST));
  } catch {
    // A sandbox may refuse it, and what is built is the same.
  }
}

if (parentPort === null) throw new TypeError('expected to be started as a thread');
const port = parentPort;
const file: unknown = workerData;
if (typeof file !== 'string') throw new TypeError('expected to be started with the file of the register');
giveWay();

let register: Register | undefined;

async function respond<Name extends JobName>({ name, input }: Call<Name>): Promise<void> {
  const reply = (message: Reply<Name>): void => port.postMessage(message);
  try {
    // The main thread has it open.
    register ??= Register.join(String(file));
    const advance = (steps: number): void => reply({ is: 'progress', steps });
    reply({ is: 'done', output: await perform({ register, advance }, { name, input }) });
  } catch (error) {
    // What is not expected ends the thread.
    if (!(error instanceof Failure)) throw error;
    reply({ is: 'failed', failure: error.parts });
  }
}

port.on('message', (call: Call<JobName>) => void respond(call));
