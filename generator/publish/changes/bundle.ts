/**
 * Bundles: the bodies of everything that a snapshot changed, in one file. Each is gzip (RFC 1952)
 * with several members, whose lines are JSON: the step, then each new or changed document, then
 * each removed one.
 */
import { join } from 'node:path';
import { chunksOf, linesOf } from '../files.js';
import { Sink } from '../sink.js';
import { listFiles } from '../stage.js';
import type { StagePaths } from '../stage.js';
import { LineCompressor } from './body-writer.js';
import { bundleFile } from './change-index.js';
import type { Described } from './change-index.js';
import type { Step } from './change-list.js';

const deletedLine = (path: unknown): string => JSON.stringify({ path, deleted: true });

/** Writes the staged bundle of a snapshot from its parts. */
export function writeBundle(paths: StagePaths, step: Step): Described {
  const file = bundleFile(step.to);
  const sink = new Sink(join(paths.last, file));
  const lines = new LineCompressor((member) => sink.write(member));
  try {
    lines.write(JSON.stringify(step));
    lines.flush();
    for (const part of listFiles(paths.lists, 'bodies'))
      for (const chunk of chunksOf(part)) sink.write(chunk);
    for (const part of listFiles(paths.lists, 'deletes'))
      for (const line of linesOf(part)) lines.write(deletedLine(JSON.parse(line.replace(/,$/, ''))));
    lines.flush();
    return { file: `/${file}`, ...sink.finish() };
  } finally {
    sink.close();
  }
}
