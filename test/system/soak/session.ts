/** Hostile requests on connections of their own, one or many. */
import { connect } from 'node:net';

import { faultOf, parseAnswers, type RawAnswer } from './answers.js';
import { hostileRequest } from './requests.js';
import type { HostileTree } from './tree.js';

interface Outcome {
  readonly answers: readonly RawAnswer[];
  /** What went wrong, undefined if all is well: well-formed answers, or none and a closed connection. */
  readonly fault: string | undefined;
}

/** After so much silence without an answer this side closes too; then the server has to. */
const QUIET_MS = 500;
/** The server's header time-out, and a margin. */
const PATIENCE_MS = 20_000;

/** @param packets sent one by one, with a pause of 2 ms between them */
export async function attack(
  port: number,
  packets: readonly Buffer[],
  { published, canaries }: HostileTree,
): Promise<Outcome> {
  const isFirstHead = /^[\r\n]*HEAD /.test(Buffer.concat(packets).toString('latin1'));
  const isHead = (index: number): boolean => index === 0 && isFirstHead;
  const heard: Buffer[] = [];
  const end = await converse(port, packets, (chunk) => {
    heard.push(chunk);
    try {
      return (parseAnswers(Buffer.concat(heard), isHead)?.length ?? 0) > 0;
    } catch {
      return true;
    }
  });
  const said = Buffer.concat(heard);
  const leaked = canaries.find((canary) => said.includes(canary));
  if (leaked !== undefined) return { answers: [], fault: `leaked ${JSON.stringify(leaked)}` };
  if (end === 'open') return { answers: [], fault: 'still open' };
  try {
    const answers = parseAnswers(said, isHead) ?? [];
    if (answers.length === 0 && said.length > 0) return { answers, fault: 'an incomplete answer' };
    const fault = answers.map((answer) => faultOf(answer, published)).find((found) => found !== undefined);
    return { answers, fault };
  } catch (error) {
    return { answers: [], fault: String(error) };
  }
}

/**
 * Sends all, then waits for an answer or for silence, then for the end.
 *
 * @param isAnswered gets each chunk; whether the answers so far are whole ones
 * @returns what the server did in time
 */
function converse(
  port: number,
  packets: readonly Buffer[],
  isAnswered: (chunk: Buffer) => boolean,
): Promise<'closed' | 'open'> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1');
    let quiet: NodeJS.Timeout | undefined;
    const end = (state: 'closed' | 'open'): void => {
      clearTimeout(patience);
      clearTimeout(quiet);
      socket.destroy();
      settle(state);
    };
    const patience = setTimeout(end, PATIENCE_MS, 'open');
    const endAfter = (ms: number) => {
      clearTimeout(quiet);
      quiet = setTimeout(() => socket.end(), ms);
    };
    const sendFrom = (index: number): void => {
      const packet = packets[index];
      if (packet !== undefined && socket.writable) socket.write(packet);
      if (index + 1 < packets.length) setTimeout(sendFrom, 2, index + 1);
      else endAfter(QUIET_MS);
    };
    socket.on('connect', () => sendFrom(0));
    socket.on('data', (chunk) => endAfter(isAnswered(chunk) ? 5 : QUIET_MS));
    // A reset is one way to close.
    socket.on('error', () => undefined);
    socket.on('close', () => end('closed'));
  });
}

const AT_ONCE = 64;

/**
 * Sends a number of hostile requests, several at a time.
 * @returns how many came to which status, 0 for no answer, and what went wrong, with the request
 */
export async function volley(port: number, tree: HostileTree, count: number, seed: number) {
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      const packets = hostileRequest(seed, index);
      const { answers, fault } = await attack(port, packets, tree);
      const { status = 0 } = answers[0] ?? {};
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (fault !== undefined) {
        const sent = Buffer.concat(packets).toString('latin1');
        faults.push(`${index}: ${fault} to ${JSON.stringify(sent.slice(0, 500))}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { statuses, faults };
}
