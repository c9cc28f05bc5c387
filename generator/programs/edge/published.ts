/** What edge servers need to know of a published tree; all of it is in its snapshot.json. */
import { basename } from 'node:path/posix';
import { Failure } from '../../base/errors.js';
import { readSnapshot } from '../../tree/snapshot.js';
import type { Tree } from '../../tree/tree.js';
import { parseSnapshot, type Snapshot, type SnapshotRoute } from '../../tree/snapshot-json.js';

/**
 * Reads the tree's snapshot.json.
 * @throws Failure invalid: it says what no snapshot.json of this version may; environment: there is
 * no tree
 */
export function readPublished(tree: Tree): Snapshot {
  tree.requirePublished();
  return parseSnapshot(readSnapshot(tree.snapshotFile), `"${tree.snapshotFile}"`);
}

/**
 * The headers of a route's 200 and 206, besides those of its class. The name of a download has no
 * date here: that changes with each snapshot, and a configuration shouldn't.
 */
export function contentHeaders({
  headers,
  attachment,
  path,
}: SnapshotRoute): Readonly<Record<string, string>> {
  if (attachment === undefined) return headers;
  return { ...headers, 'Content-Disposition': `attachment; filename="${basename(path)}"` };
}

/**
 * An error as problem details (RFC 9457), without `instance`: edge servers can't escape what a
 * client sent.
 */
export function problemOf({ errors, service }: Snapshot, code: string) {
  const declared = errors[code];
  if (declared === undefined)
    throw Failure.invalid(`snapshot.json has no error "${code}": build the tree again`);
  const { status, title, detail } = declared;
  const type = `${service.base_url.replace(/\/$/, '')}${service.docs}#error-${code}`;
  return { type, title, status, detail, error: code };
}
