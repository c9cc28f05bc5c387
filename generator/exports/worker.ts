/** The thread that writes the exports, so that they don't hold up the rest. */
import { parentPort, workerData } from 'node:worker_threads';
import { Failure, asFailure } from '../errors.js';
import { Register } from '../register/open.js';
import { asRequest } from './messages.js';
import type { Reply, Request } from './messages.js';
import { EXPORTS } from './tables.js';
import type { Written } from './write.js';

if (parentPort === null) throw new TypeError('expected to be started as a thread');
const port = parentPort;
const say = (message: Reply): void => port.postMessage(message);

/** Answers with what comes of an action; what is not expected ends the thread. */
async function answer(action: () => Written | undefined | Promise<Written>): Promise<void> {
  try {
    say({ is: 'done', written: await action() });
  } catch (error) {
    const failure = asFailure(error, 'the exports');
    if (!(failure instanceof Failure)) throw error;
    say({ is: 'failed', exitCode: failure.exitCode, message: failure.message });
  }
}

function perform(register: Register, asked: Request): undefined | Promise<Written> {
  switch (asked.do) {
    case 'renew':
      register.renew();
      return undefined;
    case 'hide':
      register.hide(asked.hidden);
      return undefined;
    case 'write':
      return write(register, asked.table, asked.folder);
  }
}

async function write(register: Register, name: string, folder: string): Promise<Written> {
  // Loaded when it is needed: a build that changes nothing writes nothing.
  const { writeExport } = await import('./write.js');
  const table = EXPORTS.find((candidate) => candidate.name === name);
  if (table === undefined) throw new TypeError(`no export is named "${name}"`);
  const writing = writeExport(register, table, folder);
  for (;;) {
    const step = writing.next();
    if (step.done === true) return step.value;
    say({ is: 'progress', rows: step.value });
  }
}

const file: unknown = workerData;
if (typeof file !== 'string') throw new TypeError('expected to be started with the file of the register');
let register: Register | undefined;
await answer(() => {
  // The main thread has it open.
  register = Register.join(file);
  return undefined;
});

/** Requests are answered one after the other, also those that come while one is waited for. */
let before = Promise.resolve();
port.on('message', (message: unknown) => {
  before = before.then(() =>
    answer(() => {
      if (register === undefined) throw new TypeError('the register was not opened');
      return perform(register, asRequest(message));
    }),
  );
});
