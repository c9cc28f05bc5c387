/** Names what was left out, once, at the end of a run. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'test-left-out-'));
  const file = join(folder, 'tests');
  process.env['TEST_LEFT_OUT'] = file;
  return () => {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    rmSync(folder, { recursive: true });
    for (const line of new Set(lines)) process.stderr.write(`Left out: ${line}\n`);
  };
}
