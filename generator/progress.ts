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
   */
  blocking<T>(work: () => T | Promise<T>): Promise<T>;
  finish(): void;
  /** Removes the display, finished or not, so that an error is readable and the process can end. */
  stop(): void;
}

/** Work yields to signals and timers this often: 50 ms. */
export const TURN_MS = 50;
/** The shortest time between two plain lines: 5000 ms (= 5 seconds). */
const LINE_MS = 5000;

/** How a process handles the request to stop. */
export interface Stop {
  /** Its reason becomes the error. */
  readonly signal: AbortSignal;
  /** Does work during which signals have their default effect: to end the process. */
  readonly unheard?: <T>(work: () => T | Promise<T>) => Promise<T>;
}

/** Yields to the event loop at intervals, and then updates the display. */
abstract class Paced implements Progress {
  readonly #stop: Stop;
  protected title = '';
  protected unit = '';
  protected total = 0;
  protected done = 0;
  #turnAt = 0;

  constructor(stop: Stop) {
    this.#stop = stop;
  }

  start(title: string, total: number, unit: string): void {
    Object.assign(this, { title, total, unit, done: 0 });
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

  async blocking<T>(work: () => T | Promise<T>): Promise<T> {
    const result = await (this.#stop.unheard?.(work) ?? work());
    await this.#turn();
    return result;
  }

  finish(): void {
    this.end();
  }

  stop(): void {}

  protected begin(): void {}
  protected paint(_now: number): void {}
  protected end(): void {}
}

class Silent extends Paced {}

class Bar extends Paced {
  #bar: SingleBar | undefined;

  protected override begin(): void {
    const format = this.total === 0 ? '{title} {value} {unit}' : '{title} [{bar}] {value}/{total} {unit}';
    // A signal may end the process at any moment, and nothing would show the cursor again.
    const options = { format, hideCursor: false, gracefulExit: false, clearOnComplete: true };
    this.#bar = new SingleBar(options, Presets.shades_classic);
    this.#bar.start(this.total, 0, { title: this.title, unit: this.unit });
  }

  protected override paint(): void {
    this.#bar?.update(this.total === 0 ? this.done : Math.min(this.done, this.total));
  }

  protected override end(): void {
    // The last steps were hardly ever painted, and a step may have done the work of many.
    this.#bar?.update(this.total === 0 ? this.done : this.total);
    this.stop();
  }

  override stop(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}

class Lines extends Paced {
  readonly #write: (line: string) => void;
  #startedAt = 0;
  #lineAt = 0;

  constructor(stop: Stop, write: (line: string) => void) {
    super(stop);
    this.#write = write;
  }

  protected override begin(): void {
    this.#startedAt = performance.now();
    this.#lineAt = this.#startedAt + LINE_MS;
  }

  protected override paint(now: number): void {
    if (now < this.#lineAt) return;
    this.#lineAt = now + LINE_MS;
    const total = this.total === 0 ? '' : ` of ${number(this.total)}`;
    this.#write(`${this.title}: ${number(this.done)}${total} ${this.unit}`);
  }

  protected override end(): void {
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(1);
    this.#write(`${this.title}: ${number(this.done)} ${this.unit} in ${seconds} s`);
  }
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

/** 1234567 -> `1,234,567`, in any locale. */
export const number = (value: number): string => value.toLocaleString('en-US');

/** The progress display for an output: quiet, a terminal, or a file or pipe. */
export function progressFor(
  mode: 'quiet' | 'terminal' | 'plain',
  stop: Stop,
  write: (line: string) => void,
): Progress {
  if (mode === 'quiet') return new Silent(stop);
  return mode === 'terminal' ? new Bar(stop) : new Lines(stop, write);
}
