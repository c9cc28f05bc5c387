/** The folder of templates, styles and scripts, in the sources: the compiler does not copy them. */
import { join } from 'node:path';
import { PROJECT_FOLDER } from '../../package.js';

export const PAGES_FOLDER = join(PROJECT_FOLDER, 'generator/outputs/pages');
export const COMPILED_FOLDER = join(PROJECT_FOLDER, 'build/generator/outputs/pages');
