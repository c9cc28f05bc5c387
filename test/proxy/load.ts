import { request, type Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import { errorCode } from '../../proxy/log.js';

/** What a client met: how often each status or error code, and its longest request. */
export interface Tally {
  readonly counts: Record<string, number>;
  slowestMs: number;
}

export interface LoadOptions {
  /** False for a new connection for each request. */
  readonly agent: Agent | false;
  /** The client's address. */
  readonly from?: string;
  /** Between two requests. */
  readonly gapMs?: number;
}

/** Sends one request after the other until it is aborted. */
export async function load(
  port: number,
  { agent, from = '127.0.0.1', gapMs = 0 }: LoadOptions,
  over: AbortSignal,
): Promise<Tally> {
  const tally: Tally = { counts: {}, slowestMs: 0 };
  const place = { port, host: '127.0.0.1', localAddress: from, path: '/api/v1/group/7' };
  while (!over.aborted) {
    const startedMs = performance.now();
    const outcome = await new Promise<string>((settle) => {
      const fail = (error: Error): void => settle(errorCode(error) ?? error.message);
      const outgoing = request({ ...place, agent }, (response) => {
        response.resume();
        response.once('error', fail);
        response.once('end', () => settle(String(response.statusCode)));
      });
      outgoing.once('error', fail);
      outgoing.end();
    });
    tally.counts[outcome] = (tally.counts[outcome] ?? 0) + 1;
    tally.slowestMs = Math.max(tally.slowestMs, performance.now() - startedMs);
    if (gapMs > 0) await pause(gapMs);
  }
  return tally;
}

/** The counts of all clients together. */
export function total(tallies: readonly Tally[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const tally of tallies) {
    for (const [outcome, count] of Object.entries(tally.counts))
      counts[outcome] = (counts[outcome] ?? 0) + count;
  }
  return counts;
}
