/**
 * The assets of the previous snapshot. They stay for one commit, since cached pages still load them.
 * snapshot.json has routes for them; the index, the digest and the changes leave them out.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import type { Route } from '../routes/index.js';
import { CODINGS, COMPRESSED_FROM_BYTES, namesOf } from '../tree/codings.js';
import { measure } from '../tree/measure.js';
import { FORMER, isFormer, isRendered } from '../tree/published-routes.js';
import { describedRoute } from '../tree/snapshot-json.js';
import type { Manifest } from '../tree/snapshot-json.js';
import type { PublishedRoute } from '../tree/published-routes.js';
import type { ListWriter } from './stage.js';
import type { Tree } from '../tree/tree.js';

const assetSchema = describedRoute.extend({ class: z.literal('asset') });

/** `assets/style-0123456789.css` is of content whose SHA-256 begins with 0123456789. */
const NAMED = /-(?<hash>[0-9a-f]{10,64})\.\w+$/;

/** Whether a file's name has a hash of its content. */
export const isNamedByHash = (file: string): boolean => NAMED.test(file);

/** Whether content is what the name of its file says. */
export function isNamedContent(file: string, sum: Buffer): boolean {
  const named = NAMED.exec(file)?.groups?.['hash'];
  return named !== undefined && sum.toString('hex').startsWith(named);
}

/** Whether an asset and its compressed siblings are there, with the content that its name says. */
export function isWholeAsset({ out }: Tree, file: string): boolean {
  try {
    const { bytes, hash } = measure(join(out, file));
    const [, ...siblings] = namesOf(file, bytes, COMPRESSED_FROM_BYTES);
    return (
      isNamedContent(file, hash) &&
      siblings.every((name, index) => {
        const content = CODINGS[index]?.decode(readFileSync(join(out, name)), bytes);
        return content?.equals(readFileSync(join(out, file))) === true;
      })
    );
  } catch (error) {
    // Missing, unreadable or undecodable.
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

/**
 * The routes of the former assets of the next snapshot.
 * @param next the other routes of that snapshot
 * @param isSame whether it changes nothing: then those of the previous one stay, unless they are
 * gone. Otherwise they are dropped, and the assets that the next one lacks take their place
 */
export function formerAssets(
  tree: Tree,
  previous: Manifest | undefined,
  next: readonly Pick<PublishedRoute, 'file'>[],
  isSame = false,
): readonly Route[] {
  const files = new Set(next.map(({ file }) => file));
  return (previous?.routes ?? []).flatMap((route): Route[] => {
    const { data } = assetSchema.safeParse(route);
    if (data === undefined || files.has(data.file) || isFormer(data) !== isSame) return [];
    const stays = isSame
      ? existsSync(join(tree.out, data.file))
      : isRendered(data) && isWholeAsset(tree, data.file);
    if (!stays) return [];
    const { path, file, type, name } = data;
    return [
      {
        name: isSame ? name : FORMER + name,
        path,
        file,
        class: 'asset',
        bucket: 'page',
        type,
        description: 'Asset of the previous snapshot',
        listed: false,
      },
    ];
  });
}

/** Lists the former assets of the previous snapshot for removal, except files of the next. */
export function dropFormerAssets(
  { out }: Tree,
  previous: Manifest | undefined,
  next: readonly PublishedRoute[],
  lists: ListWriter,
): void {
  const files = new Set(next.map(({ file }) => file));
  for (const { path, file } of previous?.routes.filter(isFormer) ?? []) {
    if (files.has(file)) continue;
    for (const name of namesOf(file, 0, 0)) if (existsSync(join(out, name))) lists.remove(name);
    lists.url(path);
  }
}
