import { describe, expect, it } from 'vitest';
import { TILE_PATTERN, tileKey, tileText } from '../../../generator/programs/log/tlog/tiles.js';

const isText = (text: string): boolean => new RegExp(`^${TILE_PATTERN}$`).test(text);

describe('the key of a tile', () => {
  it.each(
    [
      ['entries/000', 'entries/000.p/1', 'entries/x001/x234/067', '0/000', '0/255.p/255', '0/x999/999.p/17'],
      ['11/x001/x099/x511/x627/775'],
    ].flat(),
  )('is that of %s alone', (text) => {
    expect(isText(text)).toBe(true);
    expect(Number.isSafeInteger(tileKey(text))).toBe(true);
    expect(tileText(tileKey(text))).toBe(text);
  });

  it.each(
    [
      ['', '000', '0/0', '0/0000', '0/001/000', '0/x000/000', '0/x001', '00/000', '12/000', '99/000'],
      ['data/000', '0/000.p', '0/000.p/0', '0/000.p/01', '0/000.p/256', '0/x001/x099/x511/x627/776'],
      ['0/000.gz'],
    ].flat(),
  )('is none for %j', (text) => {
    expect(isText(text) && tileText(tileKey(text)) === text).toBe(false);
  });
});
