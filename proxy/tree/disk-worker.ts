import { parentPort } from 'node:worker_threads';

import { errorCode } from '../log.js';
import type { Batch, Results } from './disk.js';
import { readNow, type RealPaths } from './files.js';

/** The disk thread: reads files synchronously, one after the other. */

parentPort?.on('message', (batch: Batch) => {
  const realPaths: RealPaths = new Map();
  const results: Results = batch.map((request) => {
    try {
      return { file: readNow(request, realPaths) };
    } catch (error) {
      return { message: error instanceof Error ? error.message : String(error), code: errorCode(error) };
    }
  });
  // Transferred instead of copied.
  const buffers = results.flatMap((result) =>
    'file' in result && result.file?.bytes ? [result.file.bytes.buffer] : [],
  );
  parentPort?.postMessage(results, buffers);
});
