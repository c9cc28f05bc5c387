/** The lines of bundles, compressed as they are written. */
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** Lines compressed at once: 1 MiB. */
const MEMBER_BYTES = 1024 * 1024;

/** Compresses lines, in members that are independent of each other. */
export class LineCompressor {
  readonly #put: (member: Uint8Array) => void;
  #lines: string[] = [];
  #length = 0;

  /** @param put called with each member */
  constructor(put: (member: Uint8Array) => void) {
    this.#put = put;
  }

  write(line: string): void {
    this.#lines.push(line, '\n');
    this.#length += line.length;
    if (this.#length >= MEMBER_BYTES) this.flush();
  }

  flush(): void {
    if (this.#lines.length > 0) this.#put(gzipSync(this.#lines.join('')));
    this.#lines = [];
    this.#length = 0;
  }
}

/** A new or changed document. */
export interface Put {
  readonly path: string;
  /** In hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** The line of a document. @param body left out if it is not text: clients fetch it from its path */
export const putLine = (put: Put, body?: Buffer): string =>
  JSON.stringify(body === undefined || !isUtf8(body) ? put : { ...put, body: body.toString() });

/** Writes the bodies of one route. The file is created with the first. */
export class BodyWriter {
  readonly #file: string;
  readonly #lines: LineCompressor;
  #descriptor: number | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#lines = new LineCompressor((member) => {
      this.#descriptor ??= openSync(this.#file, 'w');
      for (let at = 0; at < member.length;) at += writeSync(this.#descriptor, member, at);
    });
  }

  put(put: Put, body?: Buffer): void {
    this.#lines.write(putLine(put, body));
  }

  finish(): void {
    this.#lines.flush();
    this.close();
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
