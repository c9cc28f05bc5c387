/** Templates: plain files, everything in them escaped unless it says `~`. */
import { join } from 'node:path';
import { Eta } from 'eta';
import { PAGES_FOLDER } from './folder.js';

const eta = new Eta({ views: join(PAGES_FOLDER, 'templates'), cache: true });

/** Fills a template of `templates/`; in it, the data is `it`. */
export const render = (template: string, data: object): string => eta.render(`./${template}`, data);

/**
 * A value inside a script element that holds data: HTML must not find its end in it, whatever names are in the
 * register.
 */
export const dataBlock = (value: unknown): string =>
  JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
