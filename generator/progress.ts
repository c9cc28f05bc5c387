/** Progress of long work: a bar on a terminal, plain lines elsewhere, nothing if quiet. */
import { setImmediate, setTimeout } from 'node:timers/promises';

/** Progress of consecutive phases. */
export interface Progress {
  /** @param total 0 if unknown */
  start(title: string, total: number, unit: string): void;
  /** Await a returned promise: signals and timers are handled then, and it rejects on a stop. */
  advance(steps: number): Promise<void> | undefined;
  /**
   * Does work that may block this thread for seconds. A signal ends the process at once meanwhile,
   * without a word, so use it only where that leaves nothing half done. Rejects on a stop.
   * @param title what it does, if it may take long and is no part of a phase
   */
  blocking<T>(work: () => T | Promise<T>, title?: string): Promise<T>;
  /** Adds a line that stays. */
  note(line: string): void;
  finish(): void;
  /** Removes the bar, finished or not, so that an error is readable. */
  stop(): void;
}

/** Work yields to signals and timers this often: 50 ms. */
const TURN_MS = 50;
/** The shortest time between two plain lines: 5000 ms (= 5 seconds). */
const LINE_MS = 5000;
/** The share of the work from which the rest is estimated: the first steps of some phases are few and long. */
const LEAST = 0.01;
/** What takes longer than this, 2000 ms (= 2 seconds), shows how long it takes. */
const LONG_MS = 2000;
const BAR_CHARACTERS = 40;

/** How a process handles the request to stop. */
export interface Stop {
  /** Its reason becomes the error. */
  readonly signal: AbortSignal;
  /** Does work during which signals have their default effect: to end the process. */
  readonly unheard?: <T>(work: () => T | Promise<T>) => Promise<T>;
}

/** Where progress is shown. */
export interface Display {
  /** Writes a line that stays. */
  readonly write: (line: string) => void;
  /** On a terminal: replaces what was drawn in its last line. */
  readonly draw?: (text: string) => void;
}

interface Phase {
  readonly title: string;
  readonly unit: string;
  readonly total: number;
  readonly startedAt: number;
  done: number;
  /** When the next plain line is due, and what was done at the last one. */
  lineAt: number;
  shown: number;
}

/** @param display none to show nothing */
export function progressFor(stop: Stop, display?: Display): Progress {
  let phase: Phase | undefined;
  let turnAt = 0;
  const draw = display?.draw;
  const lines = draw === undefined ? display?.write : undefined;

  const turn = async (): Promise<void> => {
    await setImmediate();
    stop.signal.throwIfAborted();
  };
  const paint = (now: number): void => {
    if (phase === undefined) return;
    draw?.(barOf(phase, now));
    if (lines === undefined || now < phase.lineAt || phase.done === phase.shown) return;
    phase.lineAt = now + LINE_MS;
    phase.shown = phase.done;
    lines(`${phase.title}: ${amountDone(phase)}${timeLeft(phase, now)}`);
  };
  return {
    start(title, total, unit) {
      const startedAt = performance.now();
      phase = { title, total, unit, startedAt, done: 0, lineAt: startedAt + LINE_MS, shown: 0 };
      paint(startedAt);
    },
    advance(steps) {
      if (phase !== undefined) phase.done += steps;
      const now = performance.now();
      if (now < turnAt) return undefined;
      turnAt = now + TURN_MS;
      paint(now);
      return turn();
    },
    async blocking(work, title) {
      // A signal that came while this thread was busy would be lost with its listener: it has been
      // handled after a whole turn of the event loop.
      await setImmediate();
      await turn();
      if (title !== undefined) draw?.(title);
      const startedAt = performance.now();
      const result = await (stop.unheard?.(work) ?? work());
      const ms = performance.now() - startedAt;
      if (title !== undefined) draw?.('');
      if (title !== undefined && ms >= LONG_MS) lines?.(`${title}: ${seconds(ms)}`);
      await turn();
      return result;
    },
    note(line) {
      draw?.('');
      display?.write(line);
      paint(performance.now());
    },
    finish() {
      if (phase === undefined) return;
      const { title, unit, total, done, startedAt } = phase;
      // The last steps were hardly ever painted, and a step may have done the work of many.
      phase.done = Math.max(done, total);
      draw?.(barOf(phase, performance.now()));
      lines?.(`${title}: ${amountOf(done, unit)} in ${seconds(performance.now() - startedAt)}`);
      this.stop();
    },
    stop() {
      phase = undefined;
      draw?.('');
    },
  };
}

/** `rendering [====    ] 50/100 files, 12 s left`, or `exporting 50 rows` if the total is unknown */
function barOf(phase: Phase, now: number): string {
  const { title, unit, total } = phase;
  if (total === 0) return `${title} ${phase.done} ${unit}`;
  const done = Math.min(phase.done, total);
  const bar = '='.repeat(Math.floor((BAR_CHARACTERS * done) / total)).padEnd(BAR_CHARACTERS);
  return `${title} [${bar}] ${done}/${total} ${unit}${timeLeft(phase, now)}`;
}

/** `1,000 of 4,000 files`. The total may be an estimate. */
const amountDone = ({ done, total, unit }: Phase): string =>
  total === 0 || done > total ? amountOf(done, unit) : `${number(done)} of ${amountOf(total, unit)}`;

/** `, 12 s left`, if enough is done to estimate it. */
function timeLeft({ done, total, startedAt }: Phase, now: number): string {
  const elapsed = now - startedAt;
  if (done < total * LEAST || done >= total || elapsed < LONG_MS) return '';
  return `, ${Math.ceil((elapsed * (total - done)) / done / 1000)} s left`;
}

/**
 * Shows the progress of work done elsewhere, until it ends; signals are handled meanwhile.
 * @param done the number of steps taken so far
 */
export async function follow<T>(work: Promise<T>, done: () => number, progress: Progress): Promise<T> {
  const ended = work.then(() => true);
  // It is awaited below; a stop may reject before that.
  ended.catch(() => undefined);
  let shown = 0;
  const advance = async (): Promise<void> => {
    const now = done();
    await progress.advance(now - shown);
    shown = now;
  };
  do await advance();
  while (!(await Promise.race([ended, setTimeout(TURN_MS, false)])));
  await advance();
  return work;
}

/** Avoids an unhandled rejection; the error surfaces where the promise is awaited. */
export function deferRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Runs an action now; its error is thrown when the result is read. */
export function deferError<T>(action: () => T): () => T {
  try {
    const result = action();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** 1234567 -> `1,234,567`, in any locale. */
export const number = (value: number): string => value.toLocaleString('en-US');

/** `1 file`, `2 files`. @param unit in the plural */
export const amountOf = (count: number, unit: string): string =>
  `${number(count)} ${count === 1 ? unit.replace(/ies$/, 'y').replace(/(?<=ss)es$|(?<=\w\w)s$/, '') : unit}`;
