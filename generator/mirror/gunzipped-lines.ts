/** Reads the lines of a bundle, or of any other compressed lines. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

const NEWLINE = 10;

/**
 * The lines of a gzip file. Memory is bounded by the longest line.
 * @param mostBytes the longest line that is permitted, about
 * @throws Error with a code that starts with Z_: it is damaged; RangeError: a line is longer
 */
export async function* gunzippedLines(
  file: string,
  mostBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<string, void, undefined> {
  const unzipped = createGunzip();
  // The callback keeps an error from being thrown twice; iterating throws it.
  pipeline(createReadStream(file), unzipped, () => {});
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of unzipped) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('expected bytes');
    let start = 0;
    // Not readline, which also splits at U+2028.
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end));
      yield Buffer.concat(parts).toString();
      [parts, bytes] = [[], 0];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > mostBytes) throw new RangeError(`a line has more than ${mostBytes} bytes`);
  }
  if (parts.length > 0) yield Buffer.concat(parts).toString();
}
