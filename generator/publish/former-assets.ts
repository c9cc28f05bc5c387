/**
 * The assets of the two snapshots before, which pages in caches still load. Their names prove their
 * content, so the index, the digest and the changes leave them out; the routes of `FORMER_ASSETS` serve
 * them, and index.json says which snapshot had each of them last.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ifExists } from '../files.js';
import { CODINGS, COMPRESSED_FROM_BYTES, namesOf } from '../tree/codings.js';
import type { Index } from '../tree/index-json.js';
import { isAsIndexed, measure } from '../tree/measure.js';
import { isRendered } from '../tree/published-routes.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { Manifest } from '../tree/snapshot-json.js';
import { ASSETS } from '../routes/pages.js';
import type { ListWriter } from './stage.js';
import type { Tree } from '../tree/tree.js';

/** For how many snapshots an asset stays after the last that had it. */
const STAYS = 2;

/** `assets/style-0123456789.css` is of content whose SHA-256 begins with 0123456789. */
const NAMED = /-(?<hash>[0-9a-f]{10,64})\.\w+$/;

/** Whether content is what the name of its file says. @param sum its SHA-256 */
export function isNamedContent(file: string, sum: Buffer): boolean {
  const hash = NAMED.exec(file)?.groups?.['hash'];
  return hash !== undefined && sum.toString('hex').startsWith(hash);
}

/** Whether an asset and its compressed siblings are there, with the content that its name says. */
function isWholeAsset({ out }: Tree, file: string): boolean {
  const found = ifExists(() => measure(join(out, file)));
  return (
    found !== undefined &&
    isNamedContent(file, found.hash) &&
    namesOf(file, found.bytes, COMPRESSED_FROM_BYTES).every((name, index) =>
      isAsIndexed(join(out, name), found, CODINGS[index - 1]),
    )
  );
}

const filesOf = (routes: readonly PublishedRoute[]): ReadonlySet<string> =>
  new Set(routes.filter(isRendered).map(({ file }) => file));

/** The assets of the previous snapshot that the next one lacks. */
export function replacedAssets(
  tree: Tree,
  previous: Manifest | undefined,
  next: readonly PublishedRoute[],
): readonly string[] {
  const assets = previous?.routes.filter((route) => route.class === 'asset') ?? [];
  const files = filesOf(next);
  return [...filesOf(assets)].filter((file) => !files.has(file) && isWholeAsset(tree, file));
}

/**
 * The earlier assets that a snapshot keeps: those of the two before.
 * @param before what the previous one kept
 * @param next the routes of the snapshot
 * @param sequence of the snapshot
 * @returns by file, the last snapshot that had it
 */
export function formerAssets(
  tree: Tree,
  before: Index['assets'] = {},
  previous: Manifest | undefined,
  next: readonly PublishedRoute[],
  sequence: number,
): NonNullable<Index['assets']> {
  const files = filesOf(next);
  const kept: Record<string, number> = {};
  for (const [file, last] of Object.entries(before))
    if (last >= sequence - STAYS && !files.has(file) && isWholeAsset(tree, file)) kept[file] = last;
  for (const file of replacedAssets(tree, previous, next)) kept[file] = previous?.sequence ?? 0;
  return kept;
}

/**
 * Lists the earlier assets in the tree for removal that are not kept.
 * @param routes those of the snapshot and of the previous one, whose assets are in the index
 */
export function dropAssets(
  { out }: Tree,
  kept: Readonly<Record<string, number>> = {},
  routes: readonly PublishedRoute[],
  lists: ListWriter,
): void {
  const files = new Set([...Object.keys(kept), ...filesOf(routes)]);
  for (const name of ifExists(() => readdirSync(join(out, ASSETS))) ?? []) {
    const file = `${ASSETS}/${name}`;
    if (!NAMED.test(name) || files.has(file)) continue;
    for (const each of namesOf(file, 0, 0)) if (existsSync(join(out, each))) lists.remove(each);
    lists.url(`/${file}`);
  }
}
