import { defineConfig } from 'vitest/config';
import config from './vitest.config.js';

/** The tests of what `mutation.config.json` mutates. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: [
      'test/proxy/limiter/{gcra,buckets}.test.ts',
      'test/proxy/http/{conditions,ranges}.test.ts',
      'test/generator/publish/lists.test.ts',
      'test/generator/publish/{commit,crash}.test.ts',
    ],
  },
});
