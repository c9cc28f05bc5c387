/** All sections. Records come first, since most else waits for nothing but a thread. */
import { records } from '../register/records.js';
import type { Resource } from '../schema/field.js';
import { RESOURCES, documentsOf } from '../schema/schema.js';
import { FEEDS_SECTION } from './feeds/feeds.js';
import { LIST_SECTIONS } from './lists/lists.js';
import { LOOKUP_SECTIONS } from './lookup/lookup.js';
import type { Section } from './section.js';

const recordsSection = (resource: Resource): Section => ({
  name: `records of ${resource.plural}`,
  routes: documentsOf(resource).map(({ route }) => route),
  split: resource.kind,
  render: (register, { range }) => records(register, resource, range),
});

export const RECORD_SECTIONS: readonly Section[] = RESOURCES.map(recordsSection);

export const SECTIONS: readonly Section[] = [
  ...RECORD_SECTIONS,
  FEEDS_SECTION,
  ...LIST_SECTIONS,
  ...LOOKUP_SECTIONS,
];

/** @throws TypeError no section has the name */
export function sectionNamed(name: string): Section {
  const section = SECTIONS.find((candidate) => candidate.name === name);
  if (section === undefined) throw new TypeError(`no section is named "${name}"`);
  return section;
}
