/** Before all tests: temporary folders in memory; after them: the names of those that were left out. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** What two test files may need at a time: 2 GB. */
const ROOM_BYTES = 2_000_000_000;

/** Where flushing and deleting cost nothing, if there is room and nobody says where else. */
function isRoomInMemory(): boolean {
  if (process.env['TMPDIR'] !== undefined || !existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  // The file system may be larger than the memory that is left, of which the tests need as much again.
  return bavail * bsize >= ROOM_BYTES && process.availableMemory() >= 2 * ROOM_BYTES;
}

export default function setup(): () => void {
  const isInMemory = isRoomInMemory();
  const folder = mkdtempSync(join(isInMemory ? MEMORY : tmpdir(), 'register-tests-'));
  // Some tests run programs as another user.
  chmodSync(folder, 0o1777);
  if (isInMemory) process.env['TMPDIR'] = folder;
  const leftOut = join(folder, 'left-out');
  process.env['TEST_LEFT_OUT'] = leftOut;
  return () => {
    const lines = existsSync(leftOut) ? readFileSync(leftOut, 'utf8').trimEnd().split('\n') : [];
    for (const line of new Set(lines)) process.stderr.write(`Left out: ${line}\n`);
    // A worker that is being ended may still write.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
}
