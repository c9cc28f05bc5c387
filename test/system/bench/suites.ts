import { coldSuite } from './cold-suite.js';
import { downloadSuite } from './download-suite.js';
import { exportsSuite } from './exports-suite.js';
import type { Suite } from './suite.js';
import { generatorSuite } from './generator-suite.js';
import { proxySuite } from './proxy-suite.js';

/** Every suite, in the order in which `npm run bench` takes them. */
export const SUITES: readonly Suite[] = [generatorSuite, exportsSuite, proxySuite, coldSuite, downloadSuite];
