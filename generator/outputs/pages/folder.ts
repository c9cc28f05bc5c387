/** The folder of templates, in the sources: the compiler does not copy them. */
import { join } from 'node:path';
import { PROJECT_FOLDER } from '../../package.js';

export const PAGES_FOLDER = join(PROJECT_FOLDER, 'generator/outputs/pages');
