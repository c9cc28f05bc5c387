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

/** What else fingerprints are of: the sources of sections. */
export const INPUTS = SECTIONS.filter(({ source }) => source !== undefined).map((section, index) => ({
  id: FINGERPRINTS.length + index + 1,
  name: `inputs-${section.name}`,
  section: section.name,
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
  if (isSourceSame(register, section, inputs.entries, { isSameBuild, stage }))
    for (const route of due) writer.route(route).keepBelow(Number.POSITIVE_INFINITY);
  else
    for (const { route, key, body } of section.render(register, inputs)) {
      writer.route(route).put(key, body);
      advance(1);
    }
  writer.finish();
}

/** Whether a section has a source, which is what it was in the previous snapshot. */
function isSourceSame(
  register: Register,
  { name, source }: Section,
  entries: number,
  { isSameBuild, stage }: Pick<RenderSection, 'isSameBuild' | 'stage'>,
): boolean {
  const input = INPUTS.find(({ section }) => section === name);
  if (source === undefined || input === undefined) return false;
  using comparer = new Comparer(stage.compared);
  const comparison = comparer.compare('fingerprint', input.id, { isPublished: isSameBuild });
  const isSame = comparison.put({ key: 0, bytes: 0, hash: hashOf(register, source, entries) });
  comparison.removeBelow();
  comparer.finish();
  return isSame === 'unchanged';
}

/** A hash of a section's source, and of the number of its entries, on which its routes' keys depend. */
function hashOf(register: Register, source: string, entries: number): Buffer {
  const hash = createHash('sha256').update(String(entries));
  for (const [row] of register.rows<[row: string]>(source)) hash.update(row);
  return hash.digest();
}
