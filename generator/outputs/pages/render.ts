/** Templates: plain files, in which everything is escaped unless marked with `~`. */
import { join } from 'node:path';
import { Eta } from 'eta';
import { PROJECT_FOLDER } from '../../base/package.js';

/** In the sources: the compiler does not copy them. */
export const TEMPLATES_FOLDER = join(PROJECT_FOLDER, 'generator/outputs/pages/templates');

const eta = new Eta({ views: TEMPLATES_FOLDER, cache: true });

/** Renders a template of `templates/`; the data is `it`. */
export const render = (template: string, data: object): string => eta.render(`./${template}`, data);

/**
 * A value for a script element that holds data. HTML must not find the element's end in it,
 * whatever names the register has.
 */
export const dataBlock = (value: unknown): string =>
  JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
