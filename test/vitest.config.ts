import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    // Real processes, tens of thousands of files, and a machine that may be busy: 180000 ms (= 3 minutes).
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
