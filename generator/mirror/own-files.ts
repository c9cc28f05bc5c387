/** The files of the copy that are not documents: the changes that it holds, and the feed of snapshots. */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEEDS, documentFile } from '../routes/feeds.js';
import type { OwnFiles } from '../publish/plan.js';
import type { Session } from './fetch.js';
import { JSON_BYTES, changeIndex, parsed } from './origin.js';
import type { OwnFile } from './origin.js';
import { filesOf, restricted } from './steps.js';

/** Fetches the feed of snapshots, and says which bundles and lists come and go. */
export async function ownFiles({ tree, objects, index, taken }: Session): Promise<OwnFiles> {
  const put = new Map<string, string>();
  for (const format of ['atom', 'json'] as const) {
    const name = documentFile(FEEDS.snapshots, format);
    const wanted = { path: `/${name}`, bucket: 'api', bytes: JSON_BYTES, sha256: undefined } as const;
    put.set(name, (await objects.fetch(wanted)).file);
  }
  const folder = join(tree.out, 'changes');
  const before = existsSync(join(folder, 'index.json'))
    ? readFileSync(join(folder, 'index.json'))
    : Buffer.alloc(0);
  const { data } = changeIndex.safeParse(parsed(before));
  const held = new Map(
    data?.tree === index.tree ? filesOf(data).map(({ file, sha256 }) => [file, sha256]) : [],
  );
  const isHeld = ({ file, sha256 }: OwnFile): boolean =>
    taken.has(sha256) || (held.get(file) === sha256 && existsSync(join(tree.out, file)));
  const copied = restricted(index, isHeld);
  for (const { file, sha256 } of filesOf(copied))
    if (taken.has(sha256)) put.set(file.slice(1), objects.path(sha256));
  const staged = objects.path('index.json');
  writeFileSync(staged, JSON.stringify(copied));
  put.set('changes/index.json', staged);
  const kept = new Set(['/changes/index.json', ...filesOf(copied).map(({ file }) => file)]);
  const found = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  const removed = found
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(tree.out.length + 1))
    .filter((file) => !kept.has(`/${file}`));
  return { put, removed };
}
