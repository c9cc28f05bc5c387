/** Downloads that stay as they were written: whether they can, and what they then say of themselves. */
import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import type { Publisher } from '../publish/publisher.js';
import { measure } from '../publish/scan.js';
import { EXPORT_FORMATS, EXPORT_ROUTES, exportFile, exportRoute } from '../routes/exports.js';
import { EXPORTS } from './tables.js';
import type { Export } from './tables.js';

/** What is published of the downloads: by the datapackage.json beside them, and by snapshot.json. */
export interface Described {
  readonly asOf: string | null;
  /** The snapshot that they are of. */
  readonly sequence: number;
  /** Of every export. */
  readonly rows: ReadonlyMap<Export, number>;
}

const schema = z.object({
  as_of: z.string().exactOptional(),
  resources: z.array(z.object({ path: z.string(), rows: z.int() })),
});

/**
 * The published downloads by their own description; undefined where one of them, or that, is missing or damaged. The
 * files are large, so their sizes have to do: `verify` reads them.
 */
export function describedDownloads(publisher: Publisher): Described | undefined {
  try {
    return described(publisher);
  } catch (error) {
    // What is not there, or can't be read, is written anew.
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

function described(publisher: Publisher): Described | undefined {
  const description = readDescription(publisher);
  const sequence = publisher.previous?.downloads?.sequence;
  if (description === undefined || sequence === undefined) return undefined;
  const rows = new Map<Export, number>();
  for (const table of EXPORTS) {
    const csv = basename(exportFile(table.name, 'csv'));
    const its = description.resources.find(({ path }) => path === csv)?.rows;
    if (its === undefined || !isWhole(table, publisher)) return undefined;
    rows.set(table, its);
  }
  return { asOf: description.as_of ?? null, sequence, rows };
}

const isWhole = ({ name }: Export, publisher: Publisher): boolean =>
  EXPORT_FORMATS.every(({ format }) => {
    const found = statSync(join(publisher.tree.out, exportFile(name, format)));
    return found.isFile() && found.size === publisher.published(exportRoute(name, format))?.bytes;
  });

function readDescription(publisher: Publisher): z.infer<typeof schema> | undefined {
  const route = EXPORT_ROUTES.find(({ name }) => name === 'datapackage');
  if (route === undefined) throw new TypeError('no route describes the downloads');
  const path = join(publisher.tree.out, route.file);
  if (measure(path).hash.toString('hex') !== publisher.published(route.name)?.sha256) return undefined;
  return schema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
}
