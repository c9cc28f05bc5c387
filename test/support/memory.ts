/** Puts temporary folders into memory where there is room, so that flushing and deleting cost nothing. */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** What two test files may need at a time: 2 GB. */
const ROOM_BYTES = 2_000_000_000;

export default function setup(): (() => void) | undefined {
  if (process.env['TMPDIR'] !== undefined || !existsSync(MEMORY)) return undefined;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < ROOM_BYTES) return undefined;
  const folder = mkdtempSync(join(MEMORY, 'register-tests-'));
  // Some tests run programs as another user.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  // A worker that is being ended may still write.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
