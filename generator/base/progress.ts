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
  /** Removes the display, finished or not, so that an error is readable and the process can end. */
  stop(): void;
}

/** Work yields to signals and timers this often: 50 ms. */
const TURN_MS = 50;
/** The shortest time between two plain lines: 5000 ms (= 5 seconds). */
const LINE_MS = 5000;
/** What takes longer than this, 2000 ms (= 2 seconds), shows how long it takes. */
const LONG_MS = 2000;

/** How a process handles the request to stop. */
interface Stop {
  /** Its reason becomes the error. */
  readonly signal: AbortSignal;
  /** Does work during which signals have their default effect: to end the process. */
  readonly withDefaultSignals?: <T>(work: () => T | Promise<T>) => Promise<T>;
}

/** Yields to the event loop at intervals, and then updates the display, which subclasses have. */
class Paced implements Progress {
  readonly #stop: Stop;
  protected readonly write: (line: string) => void;
  protected title = '';
  protected unit = '';
  protected total = 0;
  protected done = 0;
  protected startedAt = 0;
  #turnAt = 0;

  constructor(stop: Stop, write: (line: string) => void) {
    this.#stop = stop;
    this.write = write;
  }

  start(title: string, total: number, unit: string): void {
    Object.assign(this, { title, total, unit, done: 0, startedAt: performance.now() });
    this.begin();
  }

  advance(steps: number): Promise<void> | undefined {
    this.done += steps;
    const now = performance.now();
    if (now < this.#turnAt) return undefined;
    this.#turnAt = now + TURN_MS;
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
    const result = await (this.#stop.withDefaultSignals?.(work) ?? work());
    if (title !== undefined) this.endBlocking(title, performance.now() - startedAt);
    await this.#turn();
    return result;
  }

  note(_line: string): void {}

  finish(): void {}
  stop(): void {}

  protected begin(): void {}
  protected paint(_now: number): void {}
  protected beginBlocking(_title: string): void {}
  protected endBlocking(_title: string, _ms: number): void {}
}

/** The control sequence for erasing the rest of a line (ECMA-48, EL). */
const CLEAR_TO_END = '\u001b[K';
/** The length of a bar, in characters. */
const BAR_LENGTH = 40;

/** A terminal, as process.stderr is. */
interface Screen {
  /** 0 if the width is not known. */
  readonly columns: number;
  write(text: string): unknown;
}

class Bar extends Paced {
  readonly #terminal: Screen;
  #isShown = false;

  constructor(stop: Stop, write: (line: string) => void, terminal: Screen) {
    super(stop, write);
    this.#terminal = terminal;
  }

  #show(line: string): void {
    this.#isShown = true;
    // A longer line would wrap, and the next one would not replace it.
    const { columns } = this.#terminal;
    this.#terminal.write(`\r${columns > 0 ? line.slice(0, columns - 1) : line}${CLEAR_TO_END}`);
  }

  protected override begin(): void {
    this.paint();
  }

  protected override paint(): void {
    const { title, total, unit } = this;
    if (total === 0) return this.#show(`${title} ${amountOf(this.done, unit)}`);
    // The total may be an estimate.
    const done = Math.min(this.done, total);
    const filled = Math.round((done / total) * BAR_LENGTH);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_LENGTH - filled);
    this.#show(`${title} [${bar}] ${number(done)}/${amountOf(total, unit)}`);
  }

  override note(line: string): void {
    const isShown = this.#isShown;
    this.stop();
    this.write(line);
    if (isShown) this.paint();
  }

  override finish(): void {
    // A step may have done the work of many.
    this.done = Math.max(this.done, this.total);
    this.paint();
    this.stop();
  }

  protected override beginBlocking(title: string): void {
    this.#show(title);
  }

  protected override endBlocking(): void {
    this.stop();
  }

  override stop(): void {
    if (this.#isShown) this.#terminal.write(`\r${CLEAR_TO_END}`);
    this.#isShown = false;
  }
}

class PlainLines extends Paced {
  #lineAt = 0;
  /** The steps that were done at the last line. */
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
    this.write(`${this.title}: ${amount}`);
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

/** 1234567 -> `1,234,567`, in any locale. Not by Intl, which takes 12 ms to load. */
export const number = (value: number): string =>
  String(value).replaceAll(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ',');

/** `1 file`, `2 files`. @param unit in the plural */
export const amountOf = (count: number, unit: string): string =>
  `${number(count)} ${count === 1 ? unit.replace(/ies$/, 'y').replace(/(?<=ss)es$|(?<=\w\w)s$/, '') : unit}`;

/** The progress display: none, lines for a file or pipe, or a bar on a terminal. */
export function progressFor(
  display: 'quiet' | 'plain' | Screen,
  stop: Stop,
  write: (line: string) => void,
): Progress {
  if (display === 'quiet') return new Paced(stop, write);
  return display === 'plain' ? new PlainLines(stop, write) : new Bar(stop, write, display);
}
