/** The entry point of a worker thread: opens its own connection and runs jobs in order. */
import { getPriority, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Failure } from '../../base/errors.js';
import { Register } from '../../register/database.js';
import { perform, type Call, type JobName, type Reply } from './jobs.js';
import { isSource } from './pool.js';

/** How much is added to the niceness of threads, up to the maximum. */
const NICER = 5;
const NICEST = 19;

/** A message with the progress takes as long as some documents: one each 50 ms. */
const REPORT_MS = 50;

/**
 * Lowers this thread's priority, so that the main thread can show progress and handle signals. Only
 * on Linux is niceness per thread (setpriority(2), "C library/kernel differences"); elsewhere it
 * would slow the whole process.
 */
function giveWay(): void {
  if (platform() !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + NICER, NICEST));
  } catch {
    // A sandbox may refuse it; the output is the same.
  }
}

if (parentPort === null) throw new TypeError('expected to be started as a thread');
const port = parentPort;
const source: unknown = workerData;
if (!isSource(source)) throw new TypeError('expected to be started with a register');
const { file, notMeasured } = source;
giveWay();

let register: Register | undefined;

async function respond<Name extends JobName>({ name, input }: Call<Name>): Promise<void> {
  const reply = (message: Reply<Name>): void => port.postMessage(message);
  try {
    // The main thread already has it open.
    register ??= Register.join(file, notMeasured);
    let [steps, reportedAt] = [0, performance.now()];
    const advance = (more: number): void => {
      steps += more;
      const now = performance.now();
      if (now - reportedAt < REPORT_MS) return;
      reply({ is: 'progress', steps });
      [steps, reportedAt] = [0, now];
    };
    const output = await perform({ register, advance }, { name, input });
    reply({ is: 'progress', steps });
    reply({ is: 'done', output });
  } catch (error) {
    // An unexpected error ends the thread.
    if (!(error instanceof Failure)) throw error;
    reply({ is: 'failed', failure: error.parts });
  }
}

port.on('message', (call: Call<JobName>) => void respond(call));
