import type { AnswerClass, PolicyName } from './headers.js';

/**
 * Counts since the start, for metrics. Plain numbers: a request costs an addition or two, and everything else
 * is done when somebody asks.
 */

/** Statuses are three digits (RFC 9110 §15). */
const STATUSES = 1_000;

export class Tally {
  /** Answers by class, then by status. */
  readonly #answers: Readonly<Record<AnswerClass, Float64Array>> = {
    record: new Float64Array(STATUSES),
    summary: new Float64Array(STATUSES),
    download: new Float64Array(STATUSES),
    feed: new Float64Array(STATUSES),
    page: new Float64Array(STATUSES),
    unrouted: new Float64Array(STATUSES),
  };
  readonly refusals: Record<PolicyName, number> = { api: 0, download: 0 };
  /** Files answered from memory alone, and those for which the file system was asked. */
  readonly cache = { hits: 0, misses: 0 };
  /** Connections closed unanswered since there were too many. */
  droppedConnections = 0;

  answered(answerClass: AnswerClass, status: number): void {
    const statuses = this.#answers[answerClass];
    statuses[status] = (statuses[status] ?? 0) + 1;
  }

  /** What has been answered at least once. */
  *answers(): Generator<{ readonly answerClass: string; readonly status: number; readonly count: number }> {
    for (const [answerClass, statuses] of Object.entries(this.#answers)) {
      for (const [status, count] of statuses.entries()) {
        if (count > 0) yield { answerClass, status, count };
      }
    }
  }
}
