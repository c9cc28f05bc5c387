/** The package of this program, and the folder in which a user starts it. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The folder with package.json, whether this module is compiled or not. */
export const PROJECT_FOLDER = ((): string => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package.json above "${import.meta.url}"`);
    folder = parent;
  }
  return folder;
})();

const schema = z.object({ name: z.string(), version: z.string() });

/** Reads package.json, and says in which folder it is. */
export function readPackage() {
  const root = realpathSync(PROJECT_FOLDER);
  return { root, ...schema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))) };
}

type Package = ReturnType<typeof readPackage>;

/** The scripts of package.json that start this program. */
const SCRIPTS = new Set(['snapshot', 'start']);

/** The part of `process` that is used; the tests have their own. */
type Host = Pick<NodeJS.Process, 'cwd' | 'chdir' | 'env'>;

/** The script of package.json that is running, if it starts this program. */
function ownScript({ env }: Pick<Host, 'env'>, { root }: Pick<Package, 'root'>): string | undefined {
  const { npm_lifecycle_event: script = '', npm_package_json: file } = env;
  return SCRIPTS.has(script) && file === join(root, 'package.json') ? script : undefined;
}

/** What a user types to start this program: `npm run snapshot --`, or the name of the package. */
export function calledAs(host: Pick<Host, 'env'>, self: Pick<Package, 'root' | 'name'>): string {
  return ownScript(host, self) === 'snapshot' ? 'npm run snapshot --' : self.name;
}

/**
 * Goes back to the folder in which the user called npm, which changes into the package's root before
 * it runs a script: relative paths mean what they mean to the user.
 * @returns the path of the folder in which default paths start; empty for the current folder
 */
export function returnToUser(host: Host, { root }: Pick<Package, 'root'>): string {
  const { INIT_CWD: folder } = host.env;
  if (ownScript(host, { root }) === undefined || host.cwd() !== root || folder === undefined) return '';
  host.chdir(folder);
  return relative(host.cwd(), root);
}
