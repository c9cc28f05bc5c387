/** Whether downloads can be kept, and what they say about themselves. */
import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../errors.js';
import type { Publisher } from '../publish/publisher.js';
import { measure } from '../publish/scan.js';
import { EXPORT_FORMATS, EXPORT_ROUTES, exportFile, exportRoute } from '../routes/exports.js';
import { EXPORTS } from './tables.js';
import type { Export } from './tables.js';

/** What snapshot.json and the published datapackage.json say about the downloads. */
export interface Described {
  readonly asOf: string | null;
  /** The snapshot that they belong to. */
  readonly sequence: number;
  /** By export. */
  readonly rows: ReadonlyMap<Export, number>;
}

const schema = z.object({
  as_of: z.string().exactOptional(),
  resources: z.array(z.object({ path: z.string(), rows: z.int() })),
});

/**
 * The description of the published downloads; undefined if it or any file is missing or damaged.
 * The files are large, so only their sizes are compared: `verify` reads them.
 */
export function describedDownloads(publisher: Publisher): Described | undefined {
  try {
    return described(publisher);
  } catch (error) {
    // A missing or unreadable file is rewritten.
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
