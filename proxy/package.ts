/** The package of this program, and the folder in which a user starts it, as in the generator. */
import { readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Package {
  /** The folder of package.json. */
  readonly root: string;
  readonly version: string;
}

/** Reads package.json, which is two folders above this file once it is compiled. */
export function readPackage(): Package {
  const root = realpathSync(fileURLToPath(new URL('../..', import.meta.url)));
  const file: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (typeof file === 'object' && file !== null && 'version' in file) {
    return { root, version: String(file.version) };
  }
  throw new TypeError('package.json has no version');
}

/** The scripts of package.json that start this program. */
const SCRIPTS = new Set(['proxy', 'start', 'snapshot']);

/** The part of `process` that is used; the tests have their own. */
type Host = Pick<NodeJS.Process, 'cwd' | 'chdir' | 'env'>;

/** The script of package.json that is running, if it starts this program. */
function ownScript({ env }: Pick<Host, 'env'>, { root }: Pick<Package, 'root'>): string | undefined {
  const { npm_lifecycle_event: script = '', npm_package_json: file } = env;
  return SCRIPTS.has(script) && file === join(root, 'package.json') ? script : undefined;
}

/** What a user types to start this program. @param isCommand whether that is `serve` of the generator's */
export function calledAs(host: Pick<Host, 'env'>, self: Pick<Package, 'root'>, isCommand: boolean): string {
  const script = ownScript(host, self);
  if (isCommand) return script === undefined ? 'register-api serve' : `npm run ${script} -- serve`;
  return script === undefined ? 'register-api-proxy' : 'npm run proxy --';
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
