/** The routes and headers of the small trees that uploads are tested with. */
import type { CacheClass } from '../../../../generator/routes/route.js';
import { route } from '../../publish/small.js';
import { MEMBERS } from '../../tree/members.js';

const keyed = (name: string, url: string, file: string, cacheClass: CacheClass = 'record') => ({
  ...route(name, url, file),
  class: cacheClass,
});
/** A route of one file. */
export const single = (name: string, file: string, cacheClass: CacheClass = 'summary') => ({
  ...keyed(name, `/${file}`, file, cacheClass),
  parameters: [],
});

/** Routes of records, of single files, and of the publisher's own. */
export const ROUTES = [
  keyed('a', '/a/{id}', 'a/{id}.json'),
  keyed('b', '/b/{id}', 'b/{id}/all.json'),
  single('page', 'page.html', 'page'),
  // It has no files of its own.
  { ...keyed('a-page', '/pages/{id}', 'page.html', 'page'), requires: 'a' },
  single('snapshot', 'snapshot.json'),
  single('changes', 'changes/index.json'),
  keyed('change-bundle', '/changes/{sequence}.ndjson.gz', 'changes/{sequence}.ndjson.gz', 'download'),
  single('feed-snapshots-json', 'feeds/snapshots.json'),
];

const LIFETIMES = {
  summary: 60,
  download: 3600,
  feed: 900,
  page: 300,
  asset: 31536000,
  checkpoint: 5,
  tile: 7,
};

/** The members of snapshot.json. @param records the lifetime of records */
export const membersOf = (records = 300) => {
  const content = Object.entries({ record: records, ...LIFETIMES }).map(
    ([name, seconds]) => [name, { 'Cache-Control': `max-age=${seconds}` }] as const,
  );
  return { headers: { ...MEMBERS.headers, content: Object.fromEntries(content) } };
};
