import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const KINDS = ['group', 'user', 'game', 'item'];
const URLS = 1_000;

/** URL paths of 1,000 records of a tree, as many of each kind. */
export function hotPaths(dist: string): string[] {
  return KINDS.flatMap((kind) =>
    readdirSync(join(dist, 'api/v1', kind))
      .filter((file) => file.endsWith('.json'))
      .slice(0, URLS / KINDS.length)
      .map((file) => `/api/v1/${kind}/${file.slice(0, -'.json'.length)}`),
  );
}
