/** Change lists: what a snapshot changed, for mirrors and caches that fetch documents themselves. */
import { join } from 'node:path';
import { chunksOf } from '../../files.js';
import { Sink } from '../../tree/sink.js';
import { listFiles } from '../stage.js';
import type { StagePaths } from '../stage.js';
import { listFile } from '../../tree/changes.js';
import type { ChangeFile } from '../../tree/changes.js';

/** The ends of a change list or bundle, in the words of its first line. */
export interface ChangeStep {
  readonly tree: string;
  readonly from: number;
  readonly to: number;
  readonly from_digest: string;
  readonly to_digest: string;
}

/** Writes the staged change list of a snapshot from its parts. */
export function writeList(paths: StagePaths, step: ChangeStep): ChangeFile {
  const file = listFile(step.to);
  const sink = new Sink(join(paths.last, file));
  const write = (text: string): void => sink.write(Buffer.from(text));
  const writeAll = (parts: readonly string[]): void => {
    for (const [index, part] of parts.entries()) {
      if (index > 0) write(',\n');
      for (const chunk of chunksOf(part)) sink.write(chunk);
    }
  };
  try {
    // One entry per line, so that it can be read as a stream.
    write(`${JSON.stringify(step).slice(0, -1)},"put":[\n`);
    writeAll(listFiles(paths.lists, 'puts'));
    write('\n],"delete":[\n');
    writeAll(listFiles(paths.lists, 'deletes'));
    write('\n]}\n');
    return { file: `/${file}`, ...sink.finish() };
  } finally {
    sink.close();
  }
}
