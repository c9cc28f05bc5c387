/** Renders a section of the documents for finding records. */
import { sectionNamed } from '../../outputs/lookup/index.js';
import type { DueSection } from '../../outputs/lookup/index.js';
import type { Context } from '../../register/context.js';
import { Counter } from '../../progress.js';
import type { SinkOf } from './shard.js';

/** Renders all documents of a section: those of its routes that it doesn't have are removed. */
export function renderLookup(
  { register, advance }: Context,
  { section, digits }: DueSection,
  sinkOf: SinkOf,
): void {
  const counter = new Counter(advance);
  const { routes, documents } = sectionNamed(section);
  const sinks = new Map(routes.map((route) => [route, sinkOf(route)]));
  for (const { route, key, body } of documents(register, digits)) {
    sinks.get(route)?.put(key, body);
    counter.count();
  }
  counter.report();
}
