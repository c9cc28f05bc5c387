/** What people see of long work: a bar on a terminal, plain lines elsewhere, nothing when quiet. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { SingleBar, Presets } from 'cli-progress';

/** Progress of phases that follow each other. */
export interface Progress {
  /** @param total 0 where it is not known */
  start(title: string, total: number, unit: string): void;
  /** When it returns a promise, await it: signals and timers have their turn, and it rejects if one says stop. */
  advance(steps: number): Promise<void> | undefined;
  finish(): void;
  /** Whatever is shown goes, finished or not: an error is to be read, and the process to end. */
  stop(): void;
}

/** Work runs this long before signals and timers get their turn: 50 ms. */
export const TURN_MS = 50;
/** A plain line at most this often: 5000 ms (= 5 seconds). */
const LINE_MS = 5000;

/** Yields to the event loop once in a while, and tells the painter how far the work is. */
abstract class Paced implements Progress {
  readonly #signal: AbortSignal;
  protected title = '';
  protected unit = '';
  protected total = 0;
  protected done = 0;
  #turnAt = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
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
    this.#signal.throwIfAborted();
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
    this.#bar = new SingleBar({ format, hideCursor: true, clearOnComplete: true }, Presets.shades_classic);
    this.#bar.start(this.total, 0, { title: this.title, unit: this.unit });
  }

  protected override paint(): void {
    this.#bar?.update(this.total === 0 ? this.done : Math.min(this.done, this.total));
  }

  protected override end(): void {
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

  constructor(signal: AbortSignal, write: (line: string) => void) {
    super(signal);
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
 * Waits for work that is done elsewhere, and shows how far it is; signals have their turn.
 * @param done how many steps were taken so far
 */
export async function follow<T>(work: Promise<T>, done: () => number, progress: Progress): Promise<T> {
  const ended = work.then(() => true);
  // Asked for below; a wish to stop may come before.
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

/** 1234567 -> `1,234,567`, on every machine the same. */
export const number = (value: number): string => value.toLocaleString('en-US');

/**
 * The progress that suits where messages go: quiet, a terminal, or a file or pipe.
 * @param signal stops the work, with its reason as the error
 */
export function progressFor(
  mode: 'quiet' | 'terminal' | 'plain',
  signal: AbortSignal,
  write: (line: string) => void,
): Progress {
  if (mode === 'quiet') return new Silent(signal);
  return mode === 'terminal' ? new Bar(signal) : new Lines(signal, write);
}
