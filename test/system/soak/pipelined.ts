/** Clients that pipeline in pieces of any size, and read slowly, late or never, or leave: the process has to live. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { Dice, type Choices } from '../../../data/sample/dice.js';
import { startProxy } from '../../support/proxy.js';
import { parseAnswers } from './answers.js';
import { request } from './requests.js';
import { makeTree } from './tree.js';

const AT_ONCE = 128;
/** For the answers, also on a machine that does much else. 60 s. */
const PATIENCE_MS = 60_000;
/** More requests than this need not be answered on one connection. */
const ANSWERED = 15;

/** A request, and how it is answered: the status and the length of the body. */
type Exchange = readonly [request: string, answer: string];

/** More than the system takes for a client that doesn't read. */
const LARGE = Buffer.alloc(8_000_000, 'a download; ');
/** A page that is sent from memory, and is more than node:http lets wait. */
const PAGE = Buffer.alloc(100_000, 'a page; ');
const SMALL: Exchange = [request('GET', '/api/v1'), '200 31'];
const DOWNLOAD: Exchange = [request('GET', '/downloads/groups.csv'), `200 ${LARGE.length}`];
const EXCHANGES: Choices<Exchange> = [
  SMALL,
  [request('GET', '/'), `200 ${PAGE.length}`],
  [request('HEAD', '/downloads/groups.csv'), '200 0'],
  [request('OPTIONS', '/api/v1'), '204 0'],
  [request('GET', '/api/v1/'), '308 0'],
  [`${request('GET', '/api/v1', 'Content-Length: 5')}GET /`, '200 31'],
  [request('GET', '/downloads/groups.csv', 'Range: bytes=0-99999'), '206 100000'],
];

/** What ends a connection, for clients that don't stay. */
const ENDINGS: Choices<Exchange> = [
  [request('CONNECT', 'x:1'), ''],
  [request('GET', '/api/v1', 'Connection: Upgrade', 'Upgrade: x'), ''],
  [request('GET', '/api/v1', 'Connection: close'), ''],
  [`${request('POST', '/api/v1', 'Transfer-Encoding: chunked')}x`, ''],
  ['\0 / HTTP/1.1\r\n\r\n', ''],
];

const padded = ([text, answer]: Exchange, bytes: number): Exchange => [
  text.replace('\r\n', `\r\nX: ${'y'.repeat(bytes)}\r\n`),
  answer,
];

interface Client {
  readonly exchanges: readonly Exchange[];
  /** What it does one after the other: it sends the next bytes, or waits for some milliseconds. */
  readonly steps: readonly { readonly bytes?: number; readonly waitMs?: number }[];
  /** For how long it reads nothing after each chunk that it has read, until it has sent everything. */
  readonly paceMs: number;
  /** It reads nothing until it has sent everything. */
  readonly isDeaf: boolean;
  /** Whether it goes after the last step, without reading what is left. */
  readonly leaves: 'closing' | 'resetting' | undefined;
}

/** It takes nothing of its downloads, and what it asks then arrives together. */
const STALLED: Client = {
  exchanges: [...Array.from({ length: 6 }, () => DOWNLOAD), SMALL, padded(SMALL, 4_000)],
  steps: [{ bytes: 6 * DOWNLOAD[0].length }, { waitMs: 1_000 }, { bytes: 5_000 }, { waitMs: 100 }],
  paceMs: 0,
  isDeaf: true,
  leaves: undefined,
};

function clientAt(seed: number, index: number): Client {
  const dice = new Dice(seed, 'pipelined', index);
  const leaves = dice.pick([undefined, 'closing', 'resetting'] as const);
  const exchanges = Array.from({ length: 1 + dice.below(leaves === undefined ? ANSWERED : 40) }, () => {
    if (leaves !== undefined && dice.once(40)) return dice.pick(ENDINGS);
    const exchange = dice.once(leaves === undefined ? 100 : 4) ? DOWNLOAD : dice.pick(EXCHANGES);
    return dice.once(4) ? padded(exchange, dice.below(6_000)) : exchange;
  });
  const steps: { bytes?: number; waitMs?: number }[] = [];
  let left = exchanges.reduce((sum, [text]) => sum + text.length, 0);
  if (leaves !== undefined) left = dice.below(left + 1);
  while (left > 0) {
    const bytes = Math.min(left, 1 + dice.below(dice.pick([3, 100, 2_000, 20_000])));
    steps.push({ bytes });
    if (dice.once(4)) steps.push({ waitMs: dice.below(dice.pick([2, 10, 100])) });
    left -= bytes;
  }
  if (dice.once(4)) steps.push({ waitMs: dice.below(100) });
  return { exchanges, steps, paceMs: dice.pick([0, 1, 5]), isDeaf: dice.once(2), leaves };
}

/** @returns what went wrong; undefined if all is well */
async function act(port: number, client: Client): Promise<string | undefined> {
  const { exchanges, steps, isDeaf, leaves } = client;
  let { paceMs } = client;
  const heard: Buffer[] = [];
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const closed = new Promise<true>((settle) => socket.once('close', () => settle(true)));
  socket.on('data', (data) => {
    heard.push(data);
    if (paceMs === 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), paceMs);
  });
  if (isDeaf) socket.pause();
  const sent = Buffer.from(exchanges.map(([text]) => text).join(''));
  let at = 0;
  for (const { bytes = 0, waitMs } of steps) {
    if (bytes > 0) socket.write(sent.subarray(at, (at += bytes)));
    if (waitMs !== undefined) await pause(waitMs);
  }
  if (leaves !== undefined) {
    if (leaves === 'closing') socket.destroy();
    else socket.resetAndDestroy();
    return undefined;
  }
  paceMs = 0;
  socket.resume().end();
  const isClosed = await Promise.race([closed, pause(PATIENCE_MS, false)]);
  socket.destroy();
  if (!isClosed) return 'still open';
  const isHead = (index: number): boolean => exchanges[index]?.[0].startsWith('HEAD') === true;
  const answers = parseAnswers(Buffer.concat(heard), isHead);
  const found = answers?.map(({ status, body }) => `${status} ${body.length}`).join(', ');
  const expected = exchanges.map(([, answer]) => answer).join(', ');
  return found === expected ? undefined : `expected ${expected}, was ${found ?? 'incomplete'}`;
}

export async function pipelined(connections: number, seed: number) {
  const folder = mkdtempSync(join(tmpdir(), 'pipelined-'));
  const { dist } = makeTree(folder);
  writeFileSync(join(dist, 'index.html'), PAGE);
  writeFileSync(join(dist, 'downloads/groups.csv'), LARGE);
  const { child, output, port, stop } = await startProxy(dist);
  const atFirst = output.stderr.length;
  const faults: string[] = [];
  const run = async (name: string, client: Client): Promise<void> => {
    const fault = await act(port, client).catch(String);
    if (fault !== undefined) faults.push(`${name}: ${fault}`);
  };
  let count = 0;
  const work = async (): Promise<void> => {
    while (count < connections && child.exitCode === null && child.signalCode === null) {
      const index = count++;
      await run(`client ${index}`, clientAt(seed, index));
    }
  };
  await Promise.all([
    run('the client that takes nothing', STALLED),
    ...Array.from({ length: AT_ONCE }, work),
  ]);
  const code = await stop();
  const said = output.stderr.slice(atFirst);
  // Nothing that a client does is worth a line, and nothing stays open.
  if (code !== 0 || !/^.*: finishing what is in flight\n$/.test(said))
    faults.unshift(`the proxy ended with ${code} and said ${said}`);
  rmSync(folder, { recursive: true, force: true });
  return { faults };
}
