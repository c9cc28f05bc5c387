/** All sections. The longest comes first, so that threads end together. */
import { FEEDS_SECTION } from './feeds/index.js';
import { LIST_SECTIONS } from './lists/index.js';
import { LOOKUP_SECTIONS } from './lookup/index.js';
import type { Section } from './section.js';

export const SECTIONS: readonly Section[] = [FEEDS_SECTION, ...LIST_SECTIONS, ...LOOKUP_SECTIONS];

/** The hash file with the inputs of a compared route's documents. */
export const inputsFile = (route: string): string => `inputs-${route}`;

/** All of these files. */
export const INPUTS_FILES: readonly string[] = SECTIONS.flatMap(({ compared = [] }) =>
  compared.map(inputsFile),
);

/** @throws TypeError no section has the name */
export function sectionNamed(name: string): Section {
  const section = SECTIONS.find((candidate) => candidate.name === name);
  if (section === undefined) throw new TypeError(`no section is named "${name}"`);
  return section;
}
