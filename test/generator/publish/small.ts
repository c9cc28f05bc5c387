/** Small trees of documents that a test makes up, published without a register. */
import type { Plan } from '../../../generator/publish/plan.js';
import { Publisher } from '../../../generator/publish/publisher.js';
import type { PublishedRoute } from '../../../generator/tree/published-routes.js';
import { Tree } from '../../../generator/tree/tree.js';
import { RECORD_ROUTES } from '../../../generator/pipeline/removal-guard.js';
import { quiet } from '../../support/build.js';
import { sha256 } from '../../support/published.js';
import { MEMBERS } from '../tree/members.js';

/** Documents by route and key. */
export type Documents = Readonly<Record<string, Readonly<Record<number, string>>>>;

/** One version of a tree. */
export interface Version {
  readonly routes: readonly PublishedRoute[];
  readonly documents: Documents;
  /** Keys of withheld records, by route. */
  readonly withheld?: Readonly<Record<string, readonly number[]>>;
  /** Further members of snapshot.json. */
  readonly members?: object;
  /** Up to which size there is a bundle, compressed. */
  readonly bundleBytes?: number;
}

/** From 4 KiB on there are compressed siblings. A fifth of this has room for some lists and bundles. */
export const LONG = 'long, '.repeat(10_000);

export const route = (
  name: string,
  url: string,
  file: string,
): PublishedRoute & { type: string; bucket: string } => ({
  name,
  type: 'application/json; charset=utf-8',
  bucket: 'api',
  path: url,
  file,
  class: 'record',
  parameters: [{ name: /\{(\w+)\}/.exec(url)?.[1] ?? 'id', in: 'path', type: 'id', description: '' }],
});

/** The route of a style sheet of this content, whose name says so. */
export function styleRoute(body: string) {
  const file = `assets/style-${sha256(body).slice(0, 10)}.css`;
  return {
    name: 'style',
    path: `/${file}`,
    file,
    class: 'asset' as const,
    bucket: 'page',
    type: 'text/css',
  };
}

export async function publish(
  out: string,
  { routes, documents, withheld, members, bundleBytes }: Version,
): Promise<void> {
  const opening = { routes, ...(bundleBytes !== undefined && { bundleBytes }) };
  const publisher = await Publisher.open(new Tree(out), opening, quiet());
  const plan = await planned(publisher, documents, withheld).catch((error: unknown) => {
    publisher.abort();
    throw error;
  });
  const announcement = {
    manifest: ({ treeId, sequence, digest, files, bytes }: Plan) =>
      JSON.stringify({
        format: 4,
        sequence,
        as_of: null,
        built_at: '2026-12-01T00:00:00Z',
        ...MEMBERS,
        digest,
        counts: {},
        tree: { id: treeId, files, bytes },
        downloads: { as_of: null, sequence: 1, digest: '0'.repeat(64) },
        compressed_from: 4096,
        routes: routes.map((each) => ({ description: '', ...each })),
        ...members,
      }),
    kinds: RECORD_ROUTES,
    snapshotFeed: () => [{ file: 'feeds/snapshots.json', body: String(plan.sequence) }],
  };
  await publisher.commit(plan, announcement, quiet());
}

async function planned(
  publisher: Publisher,
  documents: Documents,
  withheld: Version['withheld'],
): Promise<Plan> {
  const keys = Object.entries(withheld ?? {}).map(([name, all]) => [name, new Set(all)] as const);
  const records = keys.flatMap(([name, all]) => [...all].map((key) => `${name} ${key}`));
  publisher.takedown.withheld = { keys: new Map(keys), marks: { records, names: [] } };
  for (const [name, all] of Object.entries(documents))
    for (const [key, body] of Object.entries(all)) publisher.writer.route(name).put(Number(key), body);
  return publisher.plan(quiet());
}
