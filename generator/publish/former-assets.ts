/**
 * The assets of the two snapshots before, which pages in caches still load. Their names tell their
 * content, so documents, digest and changes leave them out; the routes of `FORMER_ASSETS` serve
 * them, and the state counts the snapshots since each of them was current.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ifExists } from '../base/files.js';
import { OwnFolder } from '../base/links.js';
import { CODINGS, COMPRESSED_FROM_BYTES, namesOf } from '../tree/codings.js';
import type { Described } from '../state/schema.js';
import type { OwnFile } from '../state/state.js';
import { isAsIndexed, measure } from '../tree/measure.js';
import { isRendered, type PublishedRoute } from '../tree/published-routes.js';
import type { Manifest } from '../tree/snapshot-json.js';
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
  const own = new OwnFolder(out);
  const found = ifExists(() => measure(own.pathOf(file)));
  return (
    found !== undefined &&
    isNamedContent(file, found.hash) &&
    namesOf(file, found.bytes, COMPRESSED_FROM_BYTES).every((name, index) =>
      isAsIndexed(own.pathOf(name), found, CODINGS[index - 1]),
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
 * Chooses the earlier assets that a commit keeps, those of the two snapshots before, and lists the
 * others for removal.
 * @param before what the previous commit kept
 * @param next the routes of the snapshot
 * @returns those that are kept, for the state, and the files of the others
 */
export function keepAssets(
  tree: Tree,
  before: NonNullable<Described['assets']> = {},
  previous: Manifest | undefined,
  next: readonly PublishedRoute[],
): { readonly assets: NonNullable<Described['assets']>; readonly removed: readonly OwnFile[] } {
  const files = filesOf(next);
  const kept: Record<string, number> = {};
  for (const [file, age] of Object.entries(before))
    if (age < STAYS && !files.has(file) && isWholeAsset(tree, file)) kept[file] = age + 1;
  for (const file of replacedAssets(tree, previous, next)) kept[file] = 1;
  const gone = Object.keys(before).filter((file) => !files.has(file) && kept[file] === undefined);
  const removed = gone.flatMap((file) =>
    namesOf(file, 0, 0)
      .filter((name) => name === file || existsSync(join(tree.out, name)))
      .map((name) => ({ name, isPut: false, isCached: name === file })),
  );
  return { assets: kept, removed };
}
