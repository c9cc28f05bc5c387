/** A file that is hashed as it is written. */
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** A file's size, and its SHA-256 in hex. */
export interface Content {
  readonly bytes: number;
  readonly sha256: string;
}

export class Sink {
  readonly #descriptor: number;
  readonly #digest = createHash('sha256');
  #bytes = 0;
  #open = true;

  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true });
    this.#descriptor = openSync(file, 'w');
  }

  /** How many were written. */
  get bytes(): number {
    return this.#bytes;
  }

  write(bytes: Uint8Array): void {
    this.#digest.update(bytes);
    this.#bytes += bytes.length;
    // A write may be partial. If the disk is full, the next one throws.
    for (let at = 0; at < bytes.length;) at += writeSync(this.#descriptor, bytes, at);
  }

  finish(): Content {
    this.close();
    return { bytes: this.#bytes, sha256: this.#digest.digest('hex') };
  }

  close(): void {
    if (this.#open) closeSync(this.#descriptor);
    this.#open = false;
  }
}
