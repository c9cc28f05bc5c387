/** The files that describe the bulk downloads, rendered once those are known. */
import type { SiteConfig } from '../../config/config.js';
import type { Downloads } from '../../exports/downloads.js';
import type { Output } from '../output.js';
import { dataPackage } from './datapackage.js';
import { readme } from './readme.js';
import { hash } from 'node:crypto';
import { pathInFolder } from '../../routes/exports.js';
import { routeNamed, ROUTES } from '../../routes/routes.js';

export function* downloads(config: SiteConfig, exported: Downloads): Generator<Output> {
  const described: readonly Output[] = [
    { route: 'datapackage', key: 0, body: dataPackage(config, exported) },
    { route: 'downloads-readme', key: 0, body: readme(config, exported) },
  ];
  yield* described;
  yield { route: 'checksums', key: 0, body: checksums(exported, described) };
}

export function checksums({ files }: Downloads, described: readonly Output[]): string {
  const lines = [
    ...files.map(({ download: { file }, sha256 }) => [pathInFolder(file), sha256]),
    ...described.map(({ route, body }) => [
      pathInFolder(routeNamed(ROUTES, route).file),
      hash('sha256', body),
    ]),
  ];
  return lines.map(([file, sha256]) => `${sha256}  ${file}\n`).join('');
}
