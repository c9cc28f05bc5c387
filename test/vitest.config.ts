import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

/** Tests that take longer or need other programs: `full.vitest.config.ts` runs them. */
export const FULL = 'test/**/*.full.test.ts';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, FULL],
    environment: 'node',
    globalSetup: ['test/support/setup.ts'],
    setupFiles: ['test/support/without-sync.ts'],
    // One more than there are processors: some tests wait.
    maxWorkers: availableParallelism() + 1,
    // Test files share what they import, which takes longer than most tests.
    isolate: false,
    // On a machine that may be busy with other work: 180000 ms (= 3 minutes), and 10 s for what is waited for.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Servers under test are not reached through a proxy of the machine's.
    env: { http_proxy: '', https_proxy: '' },
    expect: { poll: { timeout: 10_000 } },
  },
});
