/** Renders a section of documents. */
import { SECTIONS, sectionNamed } from '../../outputs/sections.js';
import type { SectionInputs } from '../../outputs/section.js';
import type { StageSpec } from '../../publish/stage.js';
import { StageWriter } from '../../publish/stage-writer.js';
import type { Context } from '../../register/context.js';
import { ROUTES } from '../../routes/routes.js';
import { Comparer } from '../../state/compare.js';
import { FINGERPRINTS } from '../incremental/sources.js';

export interface RenderSection extends SectionInputs {
  readonly section: string;
  /** Whether the previous snapshot is of the same build key. */
  readonly isSameBuild: boolean;
  readonly stage: StageSpec;
}

/** What else fingerprints are of: the inputs of each route whose documents are made from many. */
export const INPUTS = SECTIONS.flatMap(({ compared = [] }) => compared).map((route, index) => ({
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
  const compared = new Map(
    INPUTS.filter(({ route }) => section.compared?.includes(route) === true && due.includes(route)).map(
      ({ id, route }) => [route, inputsComparer.compare('fingerprint', id, { isPublished: isSameBuild })],
    ),
  );
  const isSame = (route: string, key: number, hash: Buffer): boolean =>
    compared.get(route)?.put({ key, bytes: 0, hash }) === 'unchanged';
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
