/** How pages of the documentation are called whose contents depend on what a register measures. */
import { moversRoute } from '../../../routes/lists.js';
import { platformIdRoute } from '../../../routes/lookup.js';
import { KINDS } from '../../../schema/field.js';
import type { DocumentationPage } from '../../../routes/documentation.js';
import { WINDOW_NAMES } from '../../../schema/members.js';
import { enumerated, type Measured } from '../../../schema/measured.js';
import { findersIn } from '../finders.js';

/** Whether there is something at a route. */
export type IsThere = (route: string) => boolean;

/** The same page, with a title and a description that name only what is there. */
export function titled<Page extends DocumentationPage>(
  page: Page,
  measured: Measured,
  isThere: IsThere,
): Page {
  const found = findersIn(measured);
  const by = enumerated(found, 'or');
  switch (page.name) {
    case 'reference-lists-page': {
      const lists = [
        ...(['largest', 'largest-games', 'largest-items'].some(isThere) ? ['the largest'] : []),
        ...(WINDOW_NAMES.map(moversRoute).some(isThere) ? ['who moved'] : []),
        ...(['newest', 'recent'].some(isThere) ? ['what is new'] : []),
      ];
      return { ...page, description: `What stands out: ${lists.join(', ')}` };
    }
    case 'reference-names-page':
      return found.length === 0
        ? { ...page, title: 'Look-up', description: 'How records can be found' }
        : {
            ...page,
            title: found.length > 1 ? page.title : found.includes('a name') ? 'Names' : 'Owners',
            description: `Records by ${by}`,
          };
    case 'reference-ids-page':
      return KINDS.map(platformIdRoute).some(isThere)
        ? page
        : { ...page, description: 'The ids of all records' };
    case 'guide-finding-page':
      return {
        ...page,
        description: found.length === 0 ? 'From a kind to all ids' : `From ${by} to records, and to all ids`,
      };
    default:
      return page;
  }
}
