/** The files that describe the bulk downloads, rendered once those are known. */
import type { SiteConfig } from '../../config/config.js';
import type { Downloads } from '../../exports/exports.js';
import type { Output } from '../output.js';
import { checksums } from './checksums.js';
import { dataPackage } from './datapackage.js';
import { readme } from './readme.js';

export function* downloads(config: SiteConfig, exported: Downloads): Generator<Output> {
  const described: readonly Output[] = [
    { route: 'datapackage', key: 0, body: dataPackage(config, exported) },
    { route: 'downloads-readme', key: 0, body: readme(config, exported) },
  ];
  yield* described;
  yield { route: 'checksums', key: 0, body: checksums(exported, described) };
}
