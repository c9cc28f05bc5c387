/**
 * What the scripts of package.json start, in JavaScript, since nothing may be compiled yet:
 * `run.mjs prepare` after an install, or `run.mjs PROGRAM ARGUMENTS` with a compiled program, such as
 * `generator/cli.js`. Where the packages or the compiled files are missing, it says what to do.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { argv, chdir, cwd, env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).slice(0, -1);

const COMPILED = new URL('../build/', import.meta.url);
const COMPILER = new URL('../node_modules/typescript/', import.meta.url);

/** @param {string} message @param {number} exitCode */
function fail(message, exitCode) {
  process.stderr.write(`error: ${message}\n`);
  process.exitCode = exitCode;
}

function prepare() {
  if (existsSync(COMPILER)) {
    process.stdout.write('compiling the programs to build/\n');
    const options = { cwd: ROOT, shell: true, stdio: 'inherit' };
    process.exitCode = spawnSync('npm run --silent compile', options).status ?? 1;
  } else if (!existsSync(COMPILED)) {
    // Installed without development packages, after the programs were compiled elsewhere, all is well.
    fail(
      'the programs are not compiled, and TypeScript is a development package: run `npm ci --include=dev`,' +
        ' and afterwards, if you like, `npm prune --ignore-scripts --omit=dev`',
      1,
    );
  }
}

/**
 * Goes back to the folder in which the user called npm, which changes into the package's root before it runs
 * a script: relative paths mean what they mean to the user. Default paths stay in the package.
 */
function returnToUser() {
  const { INIT_CWD: folder, npm_lifecycle_event: script, npm_package_json: file } = env;
  // Some other package's script, or one that changed the folder.
  if (folder === undefined || file !== join(ROOT, 'package.json') || cwd() !== ROOT) return;
  chdir(folder);
  env.REGISTER_API_DEFAULTS = relative(cwd(), ROOT);
  env.PROXY_DIST ||= join(env.REGISTER_API_DEFAULTS, 'dist');
  // As help names it. `npm start` passes its options to the proxy.
  env.REGISTER_API_CALL = `npm run ${script === 'start' ? 'proxy' : script} --`;
}

/** @param {string} path @param {readonly string[]} args */
async function run(path, args) {
  const program = new URL(path, COMPILED);
  if (!existsSync(program)) {
    fail('the programs are not compiled: run `npm run compile`', 3);
    return;
  }
  returnToUser();
  // As if it had been started itself.
  process.argv = [execPath, fileURLToPath(program), ...args];
  await import(program.href);
}

const [path = '', ...args] = argv.slice(2);
await (path === 'prepare' ? prepare() : run(path, args));
