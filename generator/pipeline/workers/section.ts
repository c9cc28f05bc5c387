/** Renders a section of documents. */
import { createHash } from 'node:crypto';
import { SECTIONS, sectionNamed } from '../../outputs/sections.js';
import type { SectionInputs } from '../../outputs/section.js';
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

/** What else fingerprints are of: the inputs of each route whose documents are made from many, or of a whole section. */
export const INPUTS = SECTIONS.flatMap(({ name, compared = [], source }) =>
  source === undefined ? compared : [name],
).map((of, index) => ({ id: FINGERPRINTS.length + index + 1, name: `inputs-${of}`, of }));

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
  const { source } = section;
  const isCompared = (of: string): boolean =>
    source === undefined ? section.compared?.includes(of) === true && due.includes(of) : of === name;
  const compared = new Map(
    INPUTS.filter(({ of }) => isCompared(of)).map(({ id, of }) => [
      of,
      inputsComparer.compare('fingerprint', id, { isPublished: isSameBuild }),
    ]),
  );
  const isSame = (route: string, key: number, hash: Buffer): boolean =>
    compared.get(route)?.put({ key, bytes: 0, hash }) === 'unchanged';
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
