/**
 * The keys of a log's tiles and bundles of entries (C2SP tlog-tiles), as the text in URLs and as
 * integers: `entries/000`, `0/x001/234`, `1/000.p/5`. From its highest bits on, the integer is 0 for
 * entries or the level plus 1, the number of the tile, and its width: 0 if it is full.
 * Browsers use this file too.
 */

/** Hashes in a full tile, and entries in a full bundle. */
export const TILE_WIDTH = 256;

/** More tiles than any level has: 2^40. */
const TILES = 2 ** 40;
/** Entries, and levels 0 to 11: so many tiles make fewer. The integers stay below 2^53. */
const KINDS = 13;

const ENTRIES = 'entries';

/** The text of a key, as part of a regular expression. */
export const TILE_PATTERN = String.raw`(?:${ENTRIES}|\d{1,2})/(?:x\d{3}/)*\d{3}(?:\.p/\d{1,3})?`;

export function tileText(key: number): string {
  const width = key % TILE_WIDTH;
  const rest = Math.floor(key / TILE_WIDTH);
  const kind = Math.floor(rest / TILES);
  return tilePath(kind === 0 ? ENTRIES : kind - 1, rest % TILES, width || TILE_WIDTH).slice('tile/'.length);
}

/** The key of a text that matches the pattern; NaN if there is none. */
export function tileKey(text: string): number {
  const [kind = '', ...rest] = text.split('/');
  const [groups = '', width = '0'] = rest.join('/').split('.p/');
  const number = Number(groups.replaceAll(/[x/]/g, ''));
  const level = kind === ENTRIES ? 0 : Number(kind) + 1;
  if (level >= KINDS || number >= TILES || Number(width) >= TILE_WIDTH) return Number.NaN;
  return (level * TILES + number) * TILE_WIDTH + Number(width);
}

/**
 * The path of a tile or of a bundle of entries, below the log's folder.
 * @param n its number within the level
 * @param width number of hashes or entries; if less than 256, it is a partial tile
 */
export function tilePath(level: number | 'entries', n: number, width = TILE_WIDTH): string {
  const digits = String(n);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0');
  const partial = width < TILE_WIDTH ? `.p/${width}` : '';
  return `tile/${level}/${padded.replaceAll(/\d{3}(?=\d)/g, 'x$&/')}${partial}`;
}

export const entriesPath = (n: number, width?: number): string => tilePath('entries', n, width);
