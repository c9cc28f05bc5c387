/** `npm run test:full`: the tests that take longer or need other programs. */
import { configDefaults, defineConfig } from 'vitest/config';
import quick, { FULL } from './vitest.config.js';

export default defineConfig({
  ...quick,
  test: { ...quick.test, include: [FULL], exclude: configDefaults.exclude },
});
