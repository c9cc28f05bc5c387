/** Computes all tiles of a log from the hashes of its entries, in the memory of a tile a level. */
import { TreeHead, headOver } from '../tree/merkle.js';
import { TILE_WIDTH, tilePath } from '../routes/tile-keys.js';

interface Level {
  /** Number of full tiles so far. */
  tiles: number;
  /** Those of the next tile. */
  hashes: Buffer[];
}

export class TileWriter {
  readonly #write: (path: string, tile: Buffer) => void;
  readonly #levels: Level[] = [];
  readonly #head = new TreeHead();

  /** @param write called with each full tile, and in the end with the partial ones */
  constructor(write: (path: string, tile: Buffer) => void) {
    this.#write = write;
  }

  /** @param leaf the hash of the next entry */
  add(leaf: Buffer): void {
    this.#head.add(leaf);
    this.#addTo(0, leaf);
  }

  #addTo(number: number, hash: Buffer): void {
    const level = (this.#levels[number] ??= { tiles: 0, hashes: [] });
    level.hashes.push(hash);
    if (level.hashes.length < TILE_WIDTH) return;
    const tile = Buffer.concat(level.hashes);
    this.#write(tilePath(number, level.tiles), tile);
    level.tiles += 1;
    level.hashes = [];
    this.#addTo(number + 1, headOver(tile));
  }

  /** The root over the hashes so far. */
  root(): Buffer {
    return this.#head.head();
  }

  /** Writes the partial tiles: there are no more hashes. */
  finish(): void {
    for (const [number, { tiles, hashes }] of this.#levels.entries())
      if (hashes.length > 0) this.#write(tilePath(number, tiles, hashes.length), Buffer.concat(hashes));
  }
}
