/** Renders a section of documents. */
import { createHash } from 'node:crypto';
import { SECTIONS, sectionNamed } from '../../outputs/sections.js';
import type { Section, SectionInputs } from '../../outputs/section.js';
import type { StageSpec } from '../../publish/stage.js';
import { StageWriter } from '../../publish/stage-writer.js';
import type { Context } from '../../register/context.js';
import type { Register } from '../../register/database.js';
import { ROUTES } from '../../routes/routes.js';
import { Comparer } from '../../state/compare.js';
import { FINGERPRINTS } from '../incremental/sources.js';

export interface RenderSection extends SectionInputs {
  readonly section: string;
  /** Whether the previous snapshot is of the same build key. */
  readonly isSameBuild: boolean;
  readonly stage: StageSpec;
}

/** The routes whose inputs are compared: those whose documents are made from many, or the main one of a section for all. */
const comparedRoutes = ({ name, compared = [], source }: Section): readonly string[] =>
  source === undefined ? compared : [name];

/** What else fingerprints are of. */
export const INPUTS = SECTIONS.flatMap(comparedRoutes).map((route, index) => ({
  id: FINGERPRINTS.length + index + 1,
  name: `inputs-${route}`,
  route,
}));

/** Stages what may have changed. */
export function renderSection(
  { register, advance }: Context,
  { section: name, isSameBuild, stage, ...inputs }: RenderSection,
): void {
  using writer = new StageWriter(stage, name, ROUTES);
  const section = sectionNamed(name);
  const due = section.due(inputs.changes);
  // Of a route that has no documents any more, all are removed.
  for (const route of due) writer.route(route);
  using inputsComparer = new Comparer(stage.compared);
  const dueInputs = new Set(comparedRoutes(section).filter((route) => due.includes(route)));
  const compared = new Map(
    INPUTS.filter(({ route }) => dueInputs.has(route)).map(({ id, route }) => [
      route,
      inputsComparer.compare('fingerprint', id, { isPublished: isSameBuild }),
    ]),
  );
  const isSame = (route: string, key: number, hash: Buffer): boolean =>
    compared.get(route)?.put({ key, bytes: 0, hash }) === 'unchanged';
  const { source } = section;
  if (source !== undefined && isSame(name, 0, hashOf(register, source, inputs.entries)))
    for (const route of due) writer.route(route).keepBelow(Number.POSITIVE_INFINITY);
  else
    for (const { route, key, body } of section.render(register, inputs, isSame)) {
      if (body === undefined) writer.route(route).keep(key);
      else {
        writer.route(route).put(key, body);
        advance(1);
      }
    }
  for (const comparison of compared.values()) comparison.removeBelow();
  inputsComparer.finish();
  writer.finish();
}

/** A hash of a section's source, and of the number of its entries, on which its routes' keys depend. */
function hashOf(register: Register, source: string, entries: number): Buffer {
  const hash = createHash('sha256').update(String(entries));
  for (const [row] of register.rows<[row: string]>(source)) hash.update(row);
  return hash.digest();
}
