/** Configuration files from templates next to this source. Nothing is escaped. */
import { join } from 'node:path';
import { Eta } from 'eta';
import { PROJECT_FOLDER } from '../package.js';

const eta = new Eta({
  views: join(PROJECT_FOLDER, 'generator/edge'),
  autoEscape: false,
  autoTrim: false,
  cache: true,
});

/** @param template the name of a template without `.eta`; the data is `it` */
export const renderTemplate = (template: string, data: object): string =>
  eta.render(`./${template}.eta`, data);
