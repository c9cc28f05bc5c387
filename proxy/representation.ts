import { acceptedCodings } from './codings.js';
import type { Content, Variant } from './content-memory.js';
import type { Contents } from './contents.js';
import type { Edition } from './edition.js';
import type { ResolvedFile } from './resolve.js';
import type { Route } from './routes.js';
import type { Snapshot } from './snapshot.js';

/** Which form of a file a client gets: as it is, or compressed (RFC 9110 §12.1). */

export interface Representation {
  readonly content: Content;
  /** Whether another Accept-Encoding may get another form, which is what Vary says. */
  readonly varies: boolean;
  /** Whether memory had all of it. */
  readonly isHit: boolean;
}

/**
 * What can be had at once, from memory or by a quick look at the disk; undefined if it has to be waited for, which
 * `select` does.
 *
 * @param acceptEncoding the value of Accept-Encoding
 */
export function selectNow(
  contents: Contents,
  { generation, snapshot }: Edition,
  { file, route }: ResolvedFile,
  acceptEncoding: string | undefined,
): Representation | undefined {
  const known = contents.fresh(file, generation);
  const plain = known ?? contents.readNow(file, generation);
  if (plain === undefined) return undefined;
  const isKnown = known !== undefined;
  if (!hasVariants(plain, route, snapshot)) return represent(plain, false, isKnown);
  for (const coding of acceptedCodings(acceptEncoding)) {
    const content = contents.freshVariant({ coding, of: plain }, generation);
    if (content === undefined) return undefined;
    if (content !== plain) return represent(content, true, isKnown);
  }
  return represent(plain, true, isKnown);
}

/**
 * Undefined if there is no such file. A compressed form that is not there or not of this content gives way to
 * the next one, in the end to the file as it is.
 *
 * @throws what the file system says of a file that can't be read
 */
export async function select(
  contents: Contents,
  { generation, snapshot }: Edition,
  { file, route }: ResolvedFile,
  acceptEncoding: string | undefined,
): Promise<Representation | undefined> {
  const plain = contents.fresh(file, generation) ?? (await contents.read(file, generation));
  if (plain === undefined) return undefined;
  if (!hasVariants(plain, route, snapshot)) return represent(plain, false, false);
  for (const coding of acceptedCodings(acceptEncoding)) {
    const variant: Variant = { coding, of: plain };
    const content: Content =
      contents.freshVariant(variant, generation) ?? (await contents.readVariant(variant, generation));
    if (content !== plain) return represent(content, true, false);
  }
  return represent(plain, true, false);
}

/** The generator compresses everything from some size on, but not downloads: they have a compressed twin. */
function hasVariants(
  { size }: Content,
  { class: cacheClass }: Route,
  snapshot: Snapshot | undefined,
): boolean {
  const compressedFrom = snapshot?.compressed_from;
  return compressedFrom !== undefined && size >= compressedFrom && cacheClass !== 'download';
}

/** A file too large to hold is read from disk each time. */
function represent(content: Content, varies: boolean, isKnown: boolean): Representation {
  return { content, varies, isHit: isKnown && content.bytes !== undefined };
}
