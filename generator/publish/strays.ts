/** What lies in a tree that has no snapshot.json to tell what it holds. */
import { elsewhere, filler } from '../routes.js';
import { COMPRESSED_FROM_BYTES } from './codings.js';
import type { Comparison } from './comparison.js';
import { LedgerReader } from './ledger.js';
import type { PublishedRoute } from './manifest.js';
import { RouteWalk } from './scan.js';
import type { Scan } from './scan.js';
import type { Stage } from './stage.js';

/**
 * What lies where our files would and is none of this build goes: a record that is withheld by now must not stay.
 * @param comparison of a build whose ledger is complete
 */
export function removeStrays(comparison: Comparison, { keys }: Scan, stage: Stage): void {
  for (const route of comparison.routes) {
    const { changes } = comparison.series(route.name);
    const file = filler(route.file);
    const walk = new RouteWalk(route, COMPRESSED_FROM_BYTES, keys, (name, key) => {
      stage.remove(name);
      if (name === file(key)) changes.removed += 1;
    });
    const reader = LedgerReader.open(stage.paths.ledger, route.name);
    for (const entry of reader?.entries() ?? []) {
      // What was there before is not added, whatever it held.
      if (walk.meet(entry)[0]?.found !== true) continue;
      changes.added -= 1;
      changes.changed += 1;
    }
    walk.finish();
    reader?.close();
  }
  for (const route of inOtherLayout(comparison.routes)) {
    new RouteWalk(route, COMPRESSED_FROM_BYTES, keys, (name) => stage.remove(name)).finish();
  }
}

/** The routes as another layout has them, under names of their own, as far as that makes a difference. */
export const inOtherLayout = (routes: readonly PublishedRoute[]): PublishedRoute[] =>
  routes
    .map((route) => ({ ...route, name: `${route.name}-elsewhere`, file: elsewhere(route.file) }))
    .filter(({ file }, index) => file !== routes[index]?.file);
