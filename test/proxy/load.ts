import { request, type Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import { errorCode } from '../../proxy/log.js';

/** How often each status or error code. */
export type Tally = Record<string, number>;

interface LoadOptions {
  /** False for a new connection for each request. */
  readonly agent: Agent | false;
  /** The client's address. */
  readonly from?: string;
  /** Between two requests. */
  readonly gapMs?: number;
}

/** Sends one request after the other until it is aborted, and counts in a tally that others share. */
export async function load(
  port: number,
  tally: Tally,
  over: AbortSignal,
  { agent, from = '127.0.0.1', gapMs = 0 }: LoadOptions,
): Promise<void> {
  const place = { port, host: '127.0.0.1', localAddress: from, path: '/api/v1/group/7' };
  while (!over.aborted) {
    const outcome = await new Promise<string>((settle) => {
      const fail = (error: Error): void => settle(errorCode(error) ?? error.message);
      const outgoing = request({ ...place, agent }, (response) => {
        response.resume().once('error', fail);
        response.once('end', () => settle(String(response.statusCode)));
      });
      outgoing.once('error', fail).end();
    });
    tally[outcome] = (tally[outcome] ?? 0) + 1;
    if (gapMs > 0) await pause(gapMs);
  }
}
