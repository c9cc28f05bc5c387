import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ABOVE = new URL('../..', import.meta.url);

/** The project's folder, seen from the sources and from what is compiled of them. */
export const PROJECT = fileURLToPath(
  existsSync(new URL('package.json', ABOVE)) ? ABOVE : new URL('..', ABOVE),
);
