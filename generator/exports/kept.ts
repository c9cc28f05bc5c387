/** Whether downloads can be kept, and what they say about themselves. */
import { lstatSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { codeOf } from '../base/errors.js';
import { OwnFolder } from '../base/links.js';
import type { Publisher } from '../publish/publisher.js';
import { measure } from '../tree/measure.js';
import { EXPORT_ROUTES, pathInFolder } from '../routes/exports.js';
import type { Measured } from '../schema/measured.js';
import { isMeasured } from '../routes/routes.js';
import type { UnlistedRoute } from '../routes/route.js';

/** The snapshot whose content kept downloads have. */
export interface KeptSnapshot {
  readonly sequence: number;
  readonly digest: string;
}

/** What snapshot.json and the published datapackage.json say about the downloads. */
export interface KeptDownloads {
  readonly asOf: string | null;
  /** The snapshot that they belong to. */
  readonly snapshot: KeptSnapshot;
  /** By route. */
  readonly rows: ReadonlyMap<string, number>;
  /** The newest measurement in each table of records, by table. */
  readonly newest: ReadonlyMap<string, string>;
}

const schema = z.object({
  as_of: z.string().exactOptional(),
  resources: z.array(
    z.object({ path: z.string(), title: z.string(), rows: z.int(), as_of: z.string().exactOptional() }),
  ),
});

/**
 * The description of the published downloads; undefined if it or any file is missing or damaged.
 * The files are large, so only their sizes are compared: `verify` reads them.
 */
export function describedDownloads(publisher: Publisher, measured: Measured): KeptDownloads | undefined {
  try {
    return described(publisher, measured);
  } catch (error) {
    // A missing or unreadable file is rewritten.
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

function described(publisher: Publisher, measured: Measured): KeptDownloads | undefined {
  const description = readDescription(publisher);
  const { sequence, digest } = publisher.previous?.downloads ?? {};
  if (description === undefined || sequence === undefined || digest === undefined) return undefined;
  const rows = new Map<string, number>();
  const files = EXPORT_ROUTES.filter((route) => route.bucket === 'download' && isMeasured(route, measured));
  for (const route of files) {
    const path = pathInFolder(route.file);
    const its = description.resources.find((resource) => resource.path === path)?.rows;
    if (its === undefined || !isWhole(route, publisher)) return undefined;
    rows.set(route.name, its);
  }
  const newest = new Map(
    description.resources.flatMap(({ title, as_of }) => (as_of === undefined ? [] : [[title, as_of]])),
  );
  return { asOf: description.as_of ?? null, snapshot: { sequence, digest }, rows, newest };
}

function isWhole({ name, file }: UnlistedRoute, publisher: Publisher): boolean {
  const found = lstatSync(new OwnFolder(publisher.tree.out).pathOf(file));
  return found.isFile() && found.size === publisher.writer.route(name).published(0)?.bytes;
}

function readDescription(publisher: Publisher): z.infer<typeof schema> | undefined {
  const route = EXPORT_ROUTES.find(({ name }) => name === 'datapackage');
  if (route === undefined) throw new TypeError('no route describes the downloads');
  const path = new OwnFolder(publisher.tree.out).pathOf(route.file);
  if (measure(path).hash.toString('hex') !== publisher.writer.route(route.name).published(0)?.sha256)
    return undefined;
  return schema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
}
