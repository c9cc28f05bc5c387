/** /downloads/SHA256SUMS: every other file in the folder, for `sha256sum -c`. */
import { hash } from 'node:crypto';
import { basename } from 'node:path/posix';
import type { Exported } from '../../exports/exports.js';
import { EXPORT_FORMATS, exportFile } from '../../routes/exports.js';
import { routeNamed, ROUTES } from '../../routes/index.js';
import type { Output } from '../output.js';

export function checksums(exported: readonly Exported[], described: readonly Output[]): string {
  const lines = [
    ...exported.flatMap(({ table, files }) =>
      EXPORT_FORMATS.map(({ format }) => [basename(exportFile(table.name, format)), files[format].sha256]),
    ),
    ...described.map(({ route, body }) => [basename(routeNamed(ROUTES, route).path), hash('sha256', body)]),
  ];
  return lines.map(([file, sha256]) => `${sha256}  ${file}\n`).join('');
}
