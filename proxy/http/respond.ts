import type { IncomingMessage } from 'node:http';

import type { Metrics } from '../ops/metrics.js';
import type { ActiveSnapshot } from '../snapshot/active.js';
import { NOTHING_HERE } from '../snapshot/request-target.js';
import type { FileMatch, Route } from '../snapshot/router.js';
import { SNAPSHOT_FILE } from '../snapshot/schema.js';
import type { SnapshotWatcher } from '../snapshot/watcher.js';
import type { CachedFile, FileCache } from '../tree/cache.js';
import { acceptedCodings } from './negotiation.js';
import { requireContext, createContext, type HttpResponse, type RequestContext } from './request.js';
import { noSnapshot, problem, redirect, respondWith, type Representation } from './responses.js';

/** The response to a GET or HEAD, with the status and headers of a GET. */
export type Respond = (request: IncomingMessage) => Promise<HttpResponse>;

export function createRespond(
  watcher: SnapshotWatcher,
  files: FileCache,
  metrics: Metrics | undefined,
): Respond {
  const respond: Respond = async (request) => {
    const context = requireContext(request);
    const { active, match } = context;
    if (match.kind === 'redirect') return redirect(context, match.location);
    if (match.kind === 'refusal') return problem(context, match.code, match.detail);

    const { required, route, values } = match;
    const isRequired = required === undefined || (await find(required.file, active)) !== undefined;
    const representation = isRequired ? await represent(context, match, request) : undefined;
    if (representation !== undefined) return respondWith(context, request, match, representation);
    // Mirrors delete records on a 404, so only a tree that exists may return it.
    await watcher.poll();
    if (!watcher.isPresent) return noSnapshot(context, 'the published tree is not there at present');
    if (watcher.active === undefined || watcher.active.epoch === active.epoch) {
      const isPage = required !== undefined && isRequired;
      return problem(context, 'not_found', isPage ? NOTHING_HERE : route.absent(values));
    }
    // A snapshot was published, or the tree switched, during the lookup.
    const { target, violation, tokens } = context;
    request.context = createContext(watcher.active, request, target, violation);
    request.context.tokens = tokens;
    return respond(request);
  };

  /** The file; undefined if it does not exist. Without a promise if it is in memory. */
  const find = (path: string, active: ActiveSnapshot) => files.get(path, active) ?? files.read(path, active);

  /** The file in the client's preferred coding; undefined if it does not exist. */
  const represent = async (
    context: RequestContext,
    { file: path, route }: FileMatch,
    { headers }: IncomingMessage,
  ): Promise<Representation | undefined> => {
    const { active } = context;
    const known = path === SNAPSHOT_FILE ? active.document : files.get(path, active);
    const file = known ?? (await find(path, active));
    if (file === undefined) return undefined;
    let chosen = file;
    const varies = hasForms(file, route, active);
    if (varies) {
      for (const coding of acceptedCodings(headers['accept-encoding'])) {
        chosen = files.getForm(file, coding, active) ?? (await files.readForm(file, coding, active));
        if (chosen !== file) break;
      }
    }
    context.cache = known !== undefined && chosen.bytes !== undefined ? 'hit' : 'miss';
    metrics?.lookedUp(context.cache);
    return { file: chosen, varies };
  };

  return respond;
}

/** The generator compresses large files. Downloads have compressed variants of their own. */
function hasForms({ size }: CachedFile, route: Route, { snapshot }: ActiveSnapshot): boolean {
  const { compressed_from: compressedFrom = Number.POSITIVE_INFINITY } = snapshot;
  return size >= compressedFrom && route.class !== 'download';
}
