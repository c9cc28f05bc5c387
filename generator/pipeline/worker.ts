/** The entry point of a thread: opens a connection of its own, and calls functions in the order in which it is asked. */
import { getPriority, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import * as z from 'zod';
import { Failure } from '../base/errors.js';
import { Register } from '../register/database.js';
import { perform, type Call, type Reply } from './threads.js';
// What every build calls, loaded before it is asked for.
import './sections.js';

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

const source = z.object({ file: z.string(), notMeasured: z.array(z.string()) });

/** Answers calls until the thread is ended. */
function serve(port: NonNullable<typeof parentPort>): void {
  const { file, notMeasured } = source.parse(workerData);
  giveWay();
  let register: Register | undefined;
  const reply = (message: Reply): void => port.postMessage(message);
  const answer = async (call: Call): Promise<void> => {
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
      const output = await perform({ register, advance }, call);
      reply({ is: 'progress', steps });
      reply({ is: 'done', output });
    } catch (error) {
      // An unexpected error ends the thread.
      if (!(error instanceof Failure)) throw error;
      reply({ is: 'failed', failure: error.parts });
    }
  };
  port.on('message', (call: Call) => void answer(call));
}

if (parentPort === null) throw new TypeError('expected to be started as a thread');
serve(parentPort);
