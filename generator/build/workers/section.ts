/** Renders a section of documents. */
import { join } from 'node:path';
import { PatchWriter } from '../../tree/patch.js';
import { inputsFile, sectionNamed } from '../../outputs/sections.js';
import type { SectionInputs } from '../../outputs/section.js';
import type { StageWriter } from '../../publish/stage-writer.js';
import type { Context } from '../../register/context.js';

export interface RenderSection extends SectionInputs {
  readonly section: string;
  /** The folder of the previous index, if the build key is the same. */
  readonly sameBuild: string | undefined;
}

/** Stages what may have changed. @param patches the folder of patches */
export function renderSection(
  { register, advance }: Context,
  { section: name, sameBuild, ...inputs }: RenderSection,
  writer: StageWriter,
  patches: string,
): void {
  const section = sectionNamed(name);
  const due = section.due(inputs.changes);
  // Of a route that has no documents any more, all are removed.
  for (const route of due) writer.route(route);
  const routes = section.compared?.filter((route) => due.includes(route)) ?? [];
  const compared = new Map(
    routes.map((route) => {
      const file = inputsFile(route);
      const old = sameBuild === undefined ? undefined : join(sameBuild, file);
      return [route, new PatchWriter({ old, patch: join(patches, file, name) })];
    }),
  );
  const isSame = (route: string, key: number, hash: Buffer): boolean =>
    compared.get(route)?.put({ key, bytes: 0, hash }) === 'unchanged';
  try {
    for (const { route, key, body } of section.render(register, inputs, isSame)) {
      if (body === undefined) writer.route(route).keep(key);
      else {
        writer.route(route).put(key, body);
        advance(1);
      }
    }
    for (const patch of compared.values()) patch.finish();
  } finally {
    for (const patch of compared.values()) patch.close();
  }
}
