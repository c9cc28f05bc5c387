/** The inside of a thread: opens its own connection to the register and answers requests, one after the other. */
import { getPriority, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { TransferListItem } from 'node:worker_threads';
import { Failure, asFailure } from '../errors.js';
import { Register } from '../register/open.js';
import { isHidden, isObject, isRanges } from './messages.js';
import type { Members, Reply } from './messages.js';

/** Tells the main thread something that is no answer. */
export type Say = (said: Members, transfer?: readonly TransferListItem[]) => void;

/** How much nicer threads are than the main one, as far as niceness goes. */
const NICER = 5;
const NICEST = 19;

/**
 * Has this thread give way to the main one, which everything goes through: a build takes as long as that writes files.
 * Only on Linux is niceness that of a thread (setpriority(2), "C library/kernel differences"); elsewhere the whole
 * process would give way to others.
 */
function giveWay(): void {
  if (platform() !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + NICER, NICEST));
  } catch {
    // A sandbox may refuse it, and what is built is the same.
  }
}

/**
 * Serves what the main thread asks until that ends the thread.
 * @param nameOf names in messages what a request has written
 * @param perform answers a request that is not common to all threads
 */
export async function serve(
  nameOf: (request: Members) => string,
  perform: (register: Register, request: Members, say: Say) => unknown,
): Promise<void> {
  if (parentPort === null) throw new TypeError('expected to be started as a thread');
  const port = parentPort;
  giveWay();
  const reply = (message: Reply, transfer: readonly TransferListItem[] = []): void =>
    port.postMessage(message, transfer);

  /** Answers with what comes of an action; what is not expected ends the thread. */
  const answer = async (action: () => unknown, what: string): Promise<void> => {
    try {
      reply({ is: 'done', value: await action() });
    } catch (error) {
      const failure = asFailure(error, what);
      if (!(failure instanceof Failure)) throw error;
      reply({ is: 'failed', failure: failure.parts });
    }
  };

  const file: unknown = workerData;
  if (typeof file !== 'string') throw new TypeError('expected to be started with the file of the register');
  let register: Register | undefined;
  await answer(() => {
    // The main thread has it open.
    register = Register.join(file);
    return undefined;
  }, 'the register');

  const respond = (message: Members): unknown => {
    if (register === undefined) throw new TypeError('the register was not opened');
    if (message['do'] === 'renew') return register.renew();
    if (message['do'] === 'hide' && isHidden(message['hidden'])) return register.hide(message['hidden']);
    if (message['do'] === 'scope' && isRanges(message['ranges']))
      return register.scope('changed', message['ranges']);
    return perform(register, message, (said, transfer) => reply({ is: 'said', said }, transfer));
  };
  /** One after the other, also those that come while one is waited for. */
  let before = Promise.resolve();
  port.on('message', (message: unknown) => {
    if (!isObject(message)) throw new TypeError(`not a request: ${JSON.stringify(message)}`);
    before = before.then(() => answer(() => respond(message), nameOf(message)));
  });
}
