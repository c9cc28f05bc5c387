/** All sections. The longest comes first, so that threads end together. */
import { FEEDS_SECTION } from './feeds/feeds.js';
import { LIST_SECTIONS } from './lists/lists.js';
import { LOOKUP_SECTIONS } from './lookup/lookup.js';
import type { Section } from './section.js';

export const SECTIONS: readonly Section[] = [FEEDS_SECTION, ...LIST_SECTIONS, ...LOOKUP_SECTIONS];

/** @throws TypeError no section has the name */
export function sectionNamed(name: string): Section {
  const section = SECTIONS.find((candidate) => candidate.name === name);
  if (section === undefined) throw new TypeError(`no section is named "${name}"`);
  return section;
}
