/**
 * Bundles: the bodies of everything that a snapshot changed, in one gzip file (RFC 1952) of one
 * member, since browsers decompress no more. Its lines are JSON: the step, then each new or changed
 * document, then each removed one.
 */
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { chunksOf, linesOf } from '../files.js';
import { Sink } from '../sink.js';
import { listFiles } from '../stage.js';
import type { StagePaths } from '../stage.js';
import { deletedLine } from './bundle-line.js';
import { bundleFile } from './change-index.js';
import type { Described } from './change-index.js';
import type { Step } from './change-list.js';

/** Writes the staged bundle of a snapshot from its parts. */
export const writeBundle = (paths: StagePaths, step: Step): Promise<Described> =>
  writeGzip(paths, bundleFile(step.to), linesOfBundle(paths, step));

/** Copies each chunk, since the compressor reads ahead. */
function* linesOfBundle(paths: StagePaths, step: Step): Generator<Uint8Array | string> {
  yield `${JSON.stringify(step)}\n`;
  for (const part of listFiles(paths.lists, 'bodies')) {
    for (const chunk of chunksOf(part)) yield Uint8Array.from(chunk);
    yield '\n';
  }
  for (const part of listFiles(paths.lists, 'deletes'))
    for (const line of linesOf(part)) yield `${deletedLine(JSON.parse(line.replace(/,$/, '')))}\n`;
}

/** Stages a compressed file below /changes. */
export async function writeGzip(
  paths: StagePaths,
  file: string,
  content: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
): Promise<Described> {
  const sink = new Sink(join(paths.last, file));
  try {
    await pipeline(Readable.from(content, { objectMode: false }), createGzip(), writableTo(sink));
    return { file: `/${file}`, ...sink.finish() };
  } finally {
    sink.close();
  }
}

/** Its errors are those of the disk; a function at the end of a pipeline would hide them. */
const writableTo = (sink: Sink): Writable =>
  new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      try {
        sink.write(chunk);
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
