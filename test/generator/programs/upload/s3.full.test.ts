/** Uploads to object storage by the real rclone, seen by the requests that arrive. */
import { describe, expect, it } from 'vitest';
import { readPublished } from '../../../../generator/programs/edge/published.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { has } from '../../../support/programs.js';
import { containing } from '../../../support/values.js';
import { inProcess, start, temporary, until } from '../../publish/support.js';
import { realSite } from './real.js';
import { BUCKET, REMOTE, storage } from './storage.js';

const path = temporary();
const { requests, objects, send } = storage(path('s3'));

let prefixes = 0;

/** A tree, and a prefix of its own for it. */
async function site() {
  const prefix = `p${(prefixes += 1)}`;
  const real = await realSite(path, `${REMOTE}:${BUCKET}/${prefix}`, () => objects(prefix));
  return {
    ...real,
    prefix,
    upload: () => {
      requests.length = 0;
      return real.upload();
    },
    /** The keys of requests with a method, in order. */
    sent: (method: string) =>
      requests
        .filter((request) => request.startsWith(`${method} ${prefix}/`))
        .map((request) => request.slice(method.length + prefix.length + 2)),
  };
}

describe.runIf(has('uploads to object storage', 'rclone'))('an upload to object storage', () => {
  it('writes every document with its headers, once, and snapshot.json last', async () => {
    const { out, prefix, upload, wrong, sent } = await site();
    const first = await upload();
    expect(wrong()).toEqual([]);
    const keys = Object.keys(objects(prefix));
    expect(first).toEqual({ written: keys.length, deleted: 0, unchanged: 0, compared: true });
    const puts = sent('PUT');
    expect(puts.toSorted()).toEqual(keys.toSorted());
    expect(puts.slice(-2)).toEqual(['changes/index.json', 'snapshot.json']);
    const { headers, routes } = readPublished(new Tree(out));
    for (const key of keys) {
      const route = routes.find(({ file }) => patternOf(file).test(key))!;
      const { headers: found } = await send('HEAD', `${prefix}/${key}`);
      const { type, class: cacheClass, attachment } = route;
      const disposition = attachment === undefined ? null : `attachment; filename="${attachment}"`;
      const names = ['content-type', 'cache-control', 'content-disposition'];
      const expected = [type, headers.content[cacheClass]?.['Cache-Control'], disposition];
      expect([key, ...names.map((name) => found.get(name))]).toEqual([key, ...expected]);
    }
    requests.length = 0;
    expect(await upload()).toEqual({ written: 0, deleted: 0, unchanged: keys.length, compared: false });
    expect(requests).toEqual([]);
  });

  it('to a remote that is not configured ends with 3 and what rclone says', async () => {
    const { out } = await site();
    const { code, stderr } = await inProcess('upload', '--out', out, '--to', 'NOWHERE:bucket');
    expect(code).toBe(3);
    expect(stderr).toMatch(/^error: rclone failed with 1 while comparing \(NOWHERE:bucket\)[^]*find section/);
  });

  it('stops rclone on SIGTERM, ends with 130, and goes on the next time', async () => {
    const { args, upload, wrong } = await site();
    requests.length = 0;
    const { child, done } = start(args);
    await until(() => requests.length > 40, 'objects arrive');
    child.kill('SIGTERM');
    const stderr = containing('stopped by SIGTERM; the next upload continues from here');
    expect(await done).toMatchObject({ code: 130, stderr });
    expect((await upload()).compared).toBe(true);
    expect(wrong()).toEqual([]);
  });
});

const patternOf = (file: string): RegExp =>
  new RegExp(`^${file.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, String.raw`[\da-f-]+`)}$`);
