/**
 * Assets of earlier snapshots, which pages in caches still load: each is deleted by a build seven days after a
 * snapshot last named it.
 */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../base/files.js';
import { namesOf } from '../tree/codings.js';
import { lineOf, listedFiles, writeList, type Listed, type ListedRoute } from './lists.js';
import { stagePaths, type StageSpec } from './stage.js';
import type { Gone } from './unwritten.js';
import type { State } from './state.js';

const DAY_MS = 86_400_000;
const STAYS_MS = 7 * DAY_MS;

/** The list of former assets is that of a route of its own, which is in no table. */
export const FORMER_LIST: ListedRoute = {
  name: 'former-assets',
  path: '/assets',
  file: 'assets',
  class: 'asset',
  pages: [],
};

/** What becomes of the assets of earlier snapshots. */
interface FormerAssets {
  /** When a snapshot last named each of those that stay. */
  readonly notes: State['assets'];
  readonly kept: readonly Listed[];
  /** Siblings included. */
  readonly deleted: readonly Gone[];
}

/**
 * Stages the list of those that stay. A damaged one is deleted, since no build can write it again. If it is not known
 * what is published, every file in the folder of assets counts.
 * @param before the notes of the last snapshot
 * @param current the files of this snapshot's assets
 */
export function stageFormerAssets(
  { out, lists, listed, stage, damaged }: StageSpec,
  before: State['assets'],
  current: ReadonlySet<string>,
  now: Date,
): FormerAssets {
  const found = lists === null ? assetsIn(out) : listedAssets(lists, listed);
  const notes: Record<string, string> = {};
  const kept: Listed[] = [];
  const deleted: Gone[] = [];
  const time = `${now.toISOString().slice(0, 19)}Z`;
  for (const asset of found) {
    const { file } = asset;
    if (current.has(file)) continue;
    const lastNamed = before[file] ?? time;
    if (damaged.includes(file) || now.getTime() - Date.parse(lastNamed) > STAYS_MS) {
      const siblings = namesOf(file, 0, 0).filter((name) => name !== file && existsSync(join(out, name)));
      deleted.push({ file, urls: [`/${file}`] }, ...siblings.map((name) => ({ file: name, urls: [] })));
    } else {
      notes[file] = lastNamed;
      kept.push(asset);
    }
  }
  const lines = kept.map(({ sum, file }) => lineOf(sum, file));
  if (lines.length > 0) writeList(stagePaths(stage).lists, FORMER_LIST.name, 0, lines);
  return { notes, kept, deleted };
}

function listedAssets(lists: string, listed: readonly ListedRoute[]): readonly Listed[] {
  const routes = [...listed.filter((route) => route.class === 'asset'), FORMER_LIST];
  const all = routes.flatMap((route) => [...listedFiles(lists, route)]);
  return [...new Map(all.map((each) => [each.file, each])).values()].toSorted((a, b) =>
    a.file < b.file ? -1 : 1,
  );
}

/** `style-0123456789.css` */
const NAMED = /^[a-z][a-z0-9-]*-[0-9a-f]{10}\.\w+$/;

function assetsIn(out: string): readonly Listed[] {
  const names = namesIn(join(out, 'assets')).filter((name) => NAMED.test(name));
  return names.toSorted().map((name) => {
    const file = `assets/${name}`;
    return { key: 0, file, sum: hash('sha256', readFileSync(join(out, file))) };
  });
}
