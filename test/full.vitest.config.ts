/** `npm run test:full`: the tests that take longer or need other programs. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import quick, { FULL } from './vitest.config.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
/** Files of which `npm test` runs a part (see `support/thorough.ts`). */
const shared = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => readFileSync(folder + name, 'utf8').includes('support/thorough.js'))
  .map((name) => `test/${name.replaceAll('\\', '/')}`);

export default defineConfig({
  ...quick,
  test: {
    ...quick.test,
    include: [FULL, ...shared],
    exclude: configDefaults.exclude,
    env: { ...quick.test?.env, TEST_THOROUGH: '1' },
  },
});
