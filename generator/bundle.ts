/**
 * After the compiler: `node build/generator/bundle.js`. Makes the assets of the pages, and of each program and
 * thread one file with all that it imports: to find and read some three hundred modules takes Node longer than
 * to publish a small register.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PROJECT_FOLDER } from './base/package.js';
import { writeAssets } from './outputs/pages/bundle.js';

const BUILD = join(PROJECT_FOLDER, 'build');
/** What several programs import, in files that are named by their content. */
const CHUNKS = 'chunks';

async function writePrograms(): Promise<void> {
  rmSync(join(BUILD, CHUNKS), { recursive: true, force: true });
  await build({
    // From the sources: what the compiler made of these stays replaced until they change.
    entryPoints: ['generator/program.ts', 'generator/pipeline/worker.ts', 'proxy/main.ts'],
    absWorkingDir: PROJECT_FOLDER,
    outbase: '.',
    outdir: BUILD,
    chunkNames: `${CHUNKS}/[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    // Native code, which can't be part of a file.
    external: ['better-sqlite3', 'better-sqlite3-node20'],
    // For packages that are CommonJS.
    banner: {
      js: "import { createRequire as $createRequire } from 'node:module';\nconst require = $createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
}

await writeAssets();
await writePrograms();
