import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    // Real processes, and a lock that is waited for: 60000 ms (= 1 minute).
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
