import type { Suite } from './frame/suite.js';
import { proxySuite } from './proxy-suite.js';

/** Every suite, in the order in which `npm run bench` takes them. */
export const SUITES: readonly Suite[] = [proxySuite];
