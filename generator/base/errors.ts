/** The exit codes; scripts depend on them (70 and 75 are EX_SOFTWARE and EX_TEMPFAIL of sysexits). */
export const EXIT = {
  done: 0,
  invalid: 1,
  usage: 2,
  environment: 3,
  defect: 70,
  busy: 75,
  interrupted: 130,
} as const;

/** The parts of a Failure that can be sent to another thread. */
export interface FailureParts {
  readonly exitCode: number;
  readonly message: string;
  readonly cause: unknown;
}

/** An expected error: one line for the operator and an exit code, no stack. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: number;
  /** Whether the message states the consequence for the tree. */
  #hasConsequence = false;

  private constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }

  /** Adds the consequence for the tree to the message. */
  adding(consequence: string): Failure {
    // The first consequence, added closest to the error, is the most precise.
    if (this.#hasConsequence) return this;
    const failure = new Failure(this.exitCode, `${this.message}; ${consequence}`, this.cause);
    failure.#hasConsequence = true;
    return failure;
  }

  /** The register or the tree has errors. @param cause the error code, if SQLite reported it */
  static invalid(message: string, cause?: string): Failure {
    return new Failure(EXIT.invalid, message, cause);
  }

  /** The command was called with invalid input. */
  static usage(message: string): Failure {
    return new Failure(EXIT.usage, message);
  }

  /** The machine lacks or forbids something: file missing, not writable, disk full. */
  static environment(message: string, cause?: string): Failure {
    return new Failure(EXIT.environment, message, cause);
  }

  /** Another process has a lock. @param cause its pid */
  static busy(message: string, cause: string): Failure {
    return new Failure(EXIT.busy, message, cause);
  }

  /** Recreates a failure from another thread. */
  static from({ exitCode, message, cause }: FailureParts): Failure {
    return new Failure(exitCode, message, cause);
  }

  get parts(): FailureParts {
    return { exitCode: this.exitCode, message: this.message, cause: this.cause };
  }

  /** Stopped by a signal. */
  static interrupted(message: string): Failure {
    return new Failure(EXIT.interrupted, message);
  }
}

/** The code of a system or SQLite error (`ENOENT`, `SQLITE_NOTADB`), or undefined. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Characters that break lines, control a terminal, or turn the direction of the text after them. */
const STEERING = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes what would break a line or control a terminal. */
export const onOneLine = (text: string): string =>
  text.replaceAll(STEERING, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Whether an error says that a user asked to stop. */
export const isInterrupt = (error: unknown): boolean =>
  error instanceof Failure && error.exitCode === EXIT.interrupted;

/** What an action returns; undefined if it throws a Failure. */
export function unlessFailure<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** Where the machine is at fault, whatever was to be done. */
const OF_MACHINE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full, or has no inodes left',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many open files',
  EIO: 'the disk fails',
};

const REASONS: Readonly<Record<string, string>> = {
  ...OF_MACHINE,
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'something else is in its place',
};

/** Whether the machine is at fault, wherever it happened: no permission, no room, a failing disk. */
export const isOfMachine = (error: unknown): boolean => Object.hasOwn(OF_MACHINE, codeOf(error) ?? '');

/** Converts a system error to a one-line Failure; other errors are returned unchanged. */
export function asFailure(error: unknown, what: string): unknown {
  const code = codeOf(error);
  if (error instanceof Failure || code === undefined || !/^E[A-Z]+$/.test(code)) return error;
  return Failure.environment(`${what} can't be written: ${REASONS[code] ?? messageOf(error)} (${code})`);
}

/**
 * Writes something that a person named.
 * @param what names it in the message
 * @throws Failure environment: it can't be written
 */
export function writing<T>(what: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw asFailure(error, what);
  }
}

/**
 * Reads something that a person named.
 * @param what names it in the message
 * @param hint follows "does not exist"
 * @throws Failure environment: it does not exist, or can't be read; and a Failure of `read`
 */
export function reading<T>(what: string, read: () => T, hint = ''): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Failure) throw error;
    const why = codeOf(error) === 'ENOENT' ? `does not exist${hint}` : `can't be read: ${messageOf(error)}`;
    throw Failure.environment(`${what} ${why}`);
  }
}

/** Adds to any failure before the commit that nothing was published. */
export async function addUnchangedNote<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Failure ? error.adding('the published tree is what it was') : error;
  }
}
