/** The thread that writes the exports, so that they don't hold up the rest. */
import { parentPort, workerData } from 'node:worker_threads';
import { Failure } from '../errors.js';
import { asFailure } from '../publish/tree.js';
import { Register } from '../register/open.js';
import { request, start } from './messages.js';
import type { Reply, Request } from './messages.js';
import { EXPORTS } from './tables.js';
import { writeExport } from './write.js';
import type { Written } from './write.js';

if (parentPort === null) throw new TypeError('expected to be started as a thread');
const port = parentPort;
const say = (message: Reply): void => port.postMessage(message);

/** Runs an action and answers with what comes of it; what is not expected ends the thread. */
function answer(action: () => Written | undefined): void {
  try {
    say({ is: 'done', written: action() });
  } catch (error) {
    const failure = asFailure(error, 'the exports');
    if (!(failure instanceof Failure)) throw error;
    say({ is: 'failed', exitCode: failure.exitCode, message: failure.message });
  }
}

function perform(register: Register, asked: Request): Written | undefined {
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

function write(register: Register, name: string, folder: string): Written {
  const table = EXPORTS.find((candidate) => candidate.name === name);
  if (table === undefined) throw new TypeError(`no export is named "${name}"`);
  const writing = writeExport(register, table, folder);
  for (;;) {
    const step = writing.next();
    if (step.done === true) return step.value;
    say({ is: 'progress', rows: step.value });
  }
}

let register: Register | undefined;
answer(() => {
  register = Register.open(start.parse(workerData).register);
  return undefined;
});
port.on('message', (message: unknown) => {
  answer(() => {
    if (register === undefined) throw new TypeError('the register was not opened');
    return perform(register, request.parse(message));
  });
});
