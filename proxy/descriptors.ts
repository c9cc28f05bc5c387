import { readFile } from 'node:fs/promises';

/** File descriptors this process may have, each connection and each open file being one. */

/** Kept for files, for the other ports, and for what Node holds itself. */
const SPARE_DESCRIPTORS = 256;

/**
 * A line for the operator if the system would run out of descriptors before --max-connections is reached: then
 * files can't be opened any more, and whoever holds connections stops the answers of everybody else. Undefined
 * if all is well, or where the system does not tell (there is no /proc but on Linux). Node has raised the soft
 * limit to the hard one by the time this runs.
 */
export async function descriptorWarning(maxConnections: number): Promise<string | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const limit = /^Max open files +(\d+)/m.exec(limits)?.[1];
  if (limit === undefined || Number(limit) >= maxConnections + SPARE_DESCRIPTORS) return undefined;
  return (
    `--max-connections ${maxConnections} is more than ${limit} file descriptors allow: ` +
    `raise the limit (ulimit -n) or set it to ${Math.max(1, Number(limit) - SPARE_DESCRIPTORS)}`
  );
}
