/** /downloads/SHA256SUMS: every other file in the folder, for `sha256sum -c`. */
import { hash } from 'node:crypto';
import type { Downloads } from '../../exports/exports.js';
import { EXPORT_FORMATS, exportFile, pathInFolder } from '../../routes/exports.js';
import { routeNamed, ROUTES } from '../../routes/index.js';
import type { Output } from '../output.js';

export function checksums({ tables, bulk }: Downloads, described: readonly Output[]): string {
  const lines = [
    ...tables.flatMap(({ table, files }) =>
      EXPORT_FORMATS.map(({ format }) => [
        pathInFolder(exportFile(table.name, format)),
        files[format].sha256,
      ]),
    ),
    ...bulk.map(({ file: { file }, sha256 }) => [pathInFolder(file), sha256]),
    ...described.map(({ route, body }) => [
      pathInFolder(routeNamed(ROUTES, route).file),
      hash('sha256', body),
    ]),
  ];
  return lines.map(([file, sha256]) => `${sha256}  ${file}\n`).join('');
}
