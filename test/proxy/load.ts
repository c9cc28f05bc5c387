import type { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import { errorCode } from '../../proxy/log.js';
import { ask, type AskOptions } from '../support/ask.js';

export type Tally = Record<string, number>;

interface LoadOptions extends Pick<AskOptions, 'from'> {
  /** False for a new connection for each request. */
  readonly agent: Agent | false;
  readonly gapMs?: number;
}

/** Sends one request after the other until it is aborted, and counts in a tally that others share. */
export async function load(
  port: number,
  tally: Tally,
  over: AbortSignal,
  { agent, from, gapMs = 0 }: LoadOptions,
): Promise<void> {
  while (!over.aborted) {
    const outcome = await ask(port, '/api/v1/group/7', { agent, ...(from !== undefined && { from }) }).then(
      ({ status }) => String(status),
      (error: Error) => errorCode(error) ?? error.message,
    );
    tally[outcome] = (tally[outcome] ?? 0) + 1;
    if (gapMs > 0) await pause(gapMs);
  }
}
