/** The sections in threads: the ranges of keys in which they are rendered, and what a thread does with one. */
import { sectionNamed } from '../outputs/sections.js';
import type { Section, SectionInputs } from '../outputs/section.js';
import { RouteWriter, type StageSpec, type Written } from '../publish/stage.js';
import type { Context } from '../register/context.js';
import type { Exclusions, Register } from '../register/database.js';
import { name } from '../register/sql.js';
import { ALL_KEYS } from '../publish/lists.js';
import type { KeyRange } from '../routes/keys.js';
import { isReadByRange } from '../register/ranges.js';
import { resourceOf, tablesOf } from '../schema/schema.js';

/** Renders a section in a range of keys, and stages what differs. */
export function renderSection(
  { register, advance }: Context,
  { section, spec, ...inputs }: SectionInputs & { readonly section: string; readonly spec: StageSpec },
): readonly Written[] {
  const { routes, render } = sectionNamed(section);
  const writers = new Map(
    spec.routes
      .filter(({ name: route }) => routes.includes(route))
      .map((route) => [route.name, new RouteWriter(spec, route, inputs.range)]),
  );
  for (const { route, key, body, alias } of render(register, inputs)) {
    const writer = writers.get(route);
    if (writer === undefined) throw new TypeError(`"${section}" has no route "${route}"`);
    writer.put(key, body, alias);
    advance(1);
  }
  return [...writers.values()].map((writer) => writer.finish());
}

/** Has the connection of a thread start a new read transaction. @param clock the time of the build */
export const restartRead = ({ register }: Context, clock: Date): void => register.restartRead(clock);

/** Gives the connection of a thread the exclusions that the main thread's has. */
export const exclude = ({ register }: Context, exclusions: Exclusions): void => register.exclude(exclusions);

/** About how many records a thread renders at once. */
const RECORDS_AT_ONCE = 8192;

/**
 * The ranges of keys in which a section is rendered: some thousand neighbouring records each. A section
 * that isn't split, or whose tables can't be searched by id, is one piece.
 */
export function rangesOf(register: Register, { split }: Section): readonly KeyRange[] {
  if (split === undefined) return [ALL_KEYS];
  const resource = resourceOf(split);
  if (!tablesOf(resource).every((table) => isReadByRange(register, table))) return [ALL_KEYS];
  const following = register.asked<[above: number], [id: number]>(
    `SELECT id FROM ${name(resource.plural)} WHERE id > ? ORDER BY id LIMIT 1 OFFSET ${RECORDS_AT_ONCE - 1}`,
  );
  const starts: number[] = [ALL_KEYS.low];
  for (let [next] = following(0) ?? []; next !== undefined; [next] = following(next) ?? []) starts.push(next);
  return starts.map((low, index) => ({ low, high: (starts[index + 1] ?? ALL_KEYS.high + 1) - 1 }));
}
