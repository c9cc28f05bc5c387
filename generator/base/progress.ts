/** Progress of long work: a bar on a terminal, plain lines elsewhere, nothing if quiet. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { SingleBar, Presets } from 'cli-progress';

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
  /** Removes the display, finished or not, so that an error is readable and the process can end. */
  stop(): void;
}

/** Work yields to signals and timers this often: 50 ms. */
const TURN_MS = 50;
/** The shortest time between two plain lines: 5000 ms (= 5 seconds). */
const LINE_MS = 5000;
/** The rest is estimated from this share of the work on, and after 10,000 ms (= 10 seconds). */
const LEAST = 0.1;
const LEAST_MS = 10_000;
/** Estimates by the whole of a phase and by its later part differ at most by this factor. */
const AGREED = 2;
/** What takes longer than this, 2000 ms (= 2 seconds), shows how long it takes. */
const LONG_MS = 2000;

/** How a process handles the request to stop. */
export interface Stop {
  /** Its reason becomes the error. */
  readonly signal: AbortSignal;
  /** Does work during which signals have their default effect: to end the process. */
  readonly unheard?: <T>(work: () => T | Promise<T>) => Promise<T>;
}

/** What was done of a phase at a time. */
interface Mark {
  readonly at: number;
  readonly done: number;
}

/** Yields to the event loop at intervals, and then updates the display, of which there is none here. */
class Paced implements Progress {
  readonly #stop: Stop;
  protected readonly write: (line: string) => void;
  protected title = '';
  protected unit = '';
  protected total = 0;
  protected done = 0;
  protected startedAt = 0;
  #turnAt = 0;
  /** The first is of some time between a quarter and half of the phase so far. */
  #marks: readonly [Mark, Mark?] = [{ at: 0, done: 0 }];

  constructor(stop: Stop, write: (line: string) => void) {
    this.#stop = stop;
    this.write = write;
  }

  start(title: string, total: number, unit: string): void {
    Object.assign(this, { title, total, unit, done: 0, startedAt: performance.now() });
    this.#marks = [{ at: this.startedAt, done: 0 }];
    this.begin();
  }

  advance(steps: number): Promise<void> | undefined {
    this.done += steps;
    const now = performance.now();
    if (now < this.#turnAt) return undefined;
    this.#turnAt = now + TURN_MS;
    const [first, last = first] = this.#marks;
    if (now - this.startedAt >= 2 * (last.at - this.startedAt))
      this.#marks = [last, { at: now, done: this.done }];
    this.paint(now);
    return this.#turn();
  }

  async #turn(): Promise<void> {
    await setImmediate();
    this.#stop.signal.throwIfAborted();
  }

  async blocking<T>(work: () => T | Promise<T>, title?: string): Promise<T> {
    // A signal that came while this thread was busy would be lost with its listener: it has been
    // handled after a whole turn of the event loop.
    await setImmediate();
    await this.#turn();
    if (title !== undefined) this.beginBlocking(title);
    const startedAt = performance.now();
    const result = await (this.#stop.unheard?.(work) ?? work());
    if (title !== undefined) this.endBlocking(title, performance.now() - startedAt);
    await this.#turn();
    return result;
  }

  note(_line: string): void {}

  /** `, 12 s left`, if that is known: some phases have a few steps that take longer than all others. */
  protected left(now: number): string {
    const { done, total, startedAt } = this;
    if (done < total * LEAST || done >= total || now - startedAt < LEAST_MS) return '';
    const leftSince = (mark: Mark): number => ((now - mark.at) * (total - done)) / (done - mark.done);
    const left = leftSince({ at: startedAt, done: 0 });
    const factor = left / leftSince(this.#marks[0]);
    return factor > AGREED || factor < 1 / AGREED ? '' : `, ${Math.ceil(left / 1000)} s left`;
  }

  finish(): void {}
  stop(): void {}

  protected begin(): void {}
  protected paint(_now: number): void {}
  protected beginBlocking(_title: string): void {}
  protected endBlocking(_title: string, _ms: number): void {}
}

class Bar extends Paced {
  #bar: SingleBar | undefined;

  protected override begin(): void {
    this.#show(this.total === 0 ? '{title} {value} {unit}' : '{title} [{bar}] {value}/{total} {unit}{left}');
  }

  #show(format: string): void {
    // A signal may end the process at any moment, and nothing would show the cursor again.
    const options = { format, hideCursor: false, gracefulExit: false, clearOnComplete: true };
    this.#bar = new SingleBar(options, Presets.shades_classic);
    this.#bar.start(this.total, this.done, { title: this.title, unit: this.unit, left: '' });
  }

  override note(line: string): void {
    const isShown = this.#bar !== undefined;
    this.stop();
    this.write(line);
    if (isShown) this.begin();
  }

  protected override paint(now: number): void {
    const done = this.total === 0 ? this.done : Math.min(this.done, this.total);
    this.#bar?.update(done, { left: this.left(now) });
  }

  override finish(): void {
    // The last steps were hardly ever painted, and a step may have done the work of many.
    this.#bar?.update(this.total === 0 ? this.done : this.total, { left: '' });
    this.stop();
  }

  protected override beginBlocking(title: string): void {
    this.title = title;
    this.#show('{title}');
  }

  protected override endBlocking(): void {
    this.stop();
  }

  override stop(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}

class PlainLines extends Paced {
  #lineAt = 0;
  /** What was done at the last line. */
  #shown = 0;

  override note(line: string): void {
    this.write(line);
  }

  protected override begin(): void {
    this.#lineAt = this.startedAt + LINE_MS;
    this.#shown = 0;
  }

  protected override paint(now: number): void {
    if (now < this.#lineAt || this.done === this.#shown) return;
    this.#lineAt = now + LINE_MS;
    this.#shown = this.done;
    const { done, total, unit } = this;
    // The total may be an estimate.
    const amount =
      total === 0 || done > total ? amountOf(done, unit) : `${number(done)} of ${amountOf(total, unit)}`;
    this.write(`${this.title}: ${amount}${this.left(now)}`);
  }

  override finish(): void {
    this.write(
      `${this.title}: ${amountOf(this.done, this.unit)} in ${seconds(performance.now() - this.startedAt)}`,
    );
  }

  protected override endBlocking(title: string, ms: number): void {
    if (ms >= LONG_MS) this.write(`${title}: ${seconds(ms)}`);
  }
}

/**
 * Shows the progress of work done elsewhere, until it ends; signals are handled meanwhile.
 * @param done the number of steps taken so far
 */
export async function follow<T>(work: Promise<T>, done: () => number, progress: Progress): Promise<T> {
  const ended = work.then(() => true);
  // Awaited below; a stop may reject before that.
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

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** 1234567 -> `1,234,567`, in any locale. */
export const number = (value: number): string => value.toLocaleString('en-US');

/** `1 file`, `2 files`. @param unit in the plural */
export const amountOf = (count: number, unit: string): string =>
  `${number(count)} ${count === 1 ? unit.replace(/ies$/, 'y').replace(/(?<=ss)es$|(?<=\w\w)s$/, '') : unit}`;

/** The progress display for an output: quiet, a terminal, or a file or pipe. */
export function progressFor(
  mode: 'quiet' | 'terminal' | 'plain',
  stop: Stop,
  write: (line: string) => void,
): Progress {
  const Display = { quiet: Paced, terminal: Bar, plain: PlainLines }[mode];
  return new Display(stop, write);
}
