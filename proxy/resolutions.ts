import { resolve, type Resolution } from './resolve.js';
import type { RouteTable } from './routes.js';

/** Of the targets asked last so many are remembered, and once more as many of those before. */
const REMEMBERED = 2_000;
/** Longer ones are looked at anew each time: they must not take the memory that the files could have. */
const TARGET_MAX_LENGTH = 256;

/**
 * What request targets come to under one route table: a target that is asked again and again is taken apart
 * once. Bounded; errors, which anybody can make any number of, are not remembered.
 */
export class Resolutions {
  readonly #table: RouteTable;
  #recent = new Map<string, Resolution>();
  #older = new Map<string, Resolution>();

  constructor(table: RouteTable) {
    this.#table = table;
  }

  /** @param target request.url, raw */
  of(target: string): Resolution {
    const known = this.#recent.get(target);
    if (known !== undefined) return known;
    const resolution = this.#older.get(target) ?? resolve(target, this.#table);
    if (resolution.kind === 'file' && target.length <= TARGET_MAX_LENGTH) this.#remember(target, resolution);
    return resolution;
  }

  #remember(target: string, resolution: Resolution): void {
    if (this.#recent.size >= REMEMBERED) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(target, resolution);
  }
}
