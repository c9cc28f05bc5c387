/** The signed log by the real rclone and rsync. */
import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Tree } from '../../../generator/tree/tree.js';
import { verifyRemote } from '../../../generator/upload/compare.js';
import { upload } from '../../../generator/upload/upload.js';
import { hashesOf, temporary } from '../publish/support.js';
import { quiet } from '../../support/build.js';
import { has } from '../../support/programs.js';
import { differing } from '../../support/tree.js';
import { logFolder } from '../log/published.js';
import { NEW, OLD, publishSigned, tilesOf } from './log.js';
import { BUCKET, REMOTE, storage } from './storage.js';

const path = temporary();
const { requests, objects, headersOf } = storage(path('s3'));

/** Uploads the one version, then the other. @returns what was wrong there */
async function uploadBoth(
  out: string,
  to: string,
  found: () => Record<string, string>,
): Promise<readonly string[]> {
  const tree = new Tree(out);
  await publishSigned(out, OLD, 255, [254]);
  await upload(tree, to, quiet());
  const wrong = differing(found(), hashesOf(out));
  requests.length = 0;
  await publishSigned(out, NEW, 256);
  await upload(tree, to, quiet());
  wrong.push(...differing(found(), hashesOf(out)));
  expect(await verifyRemote(tree, to, quiet())).toMatchObject({
    missing: [],
    different: [],
    extra: [],
    untracked: { total: 0 },
  });
  return wrong;
}

describe.runIf(has('uploads to object storage', 'rclone'))('the log in object storage', () => {
  it('has the headers of its classes, and its checkpoint is written last', async () => {
    const out = path('dist');
    expect(await uploadBoth(out, `${REMOTE}:${BUCKET}/signed`, () => objects('signed'))).toEqual([]);
    const log = logFolder(out);
    const changes = requests.filter((request) => /^(PUT|DELETE)/.test(request));
    const at = changes.indexOf(`PUT signed/${log}/checkpoint`);
    const late = changes.slice(changes.indexOf('PUT signed/snapshot.json') + 1, at);
    expect(late).toEqual(changes.filter((request) => request.startsWith(`PUT signed/${log}/index/`)));
    // What the checkpoint before needed is deleted after that, and nothing else. The storage fails
    // if two are deleted at once that leave a folder empty, so some are repeated.
    expect([...new Set(changes.slice(at + 1))].toSorted()).toEqual(
      [...tilesOf(254), ...tilesOf(255)].map((file) => `DELETE signed/${log}/${file}`).toSorted(),
    );
    const headers = async (file: string) => {
      const found = await headersOf(`signed/${log}/${file}`);
      return [found.get('content-type'), found.get('cache-control')];
    };
    for (const file of ['checkpoint', 'index/routes.txt', 'index/a/5.txt', 'index/a/chunks.txt'])
      expect(await headers(file), file).toEqual(['text/plain; charset=utf-8', 'as checkpoint']);
    for (const file of tilesOf(256))
      expect(await headers(file), file).toEqual(['application/octet-stream', 'as tile']);
  }, 60_000);
});

describe.runIf(has('uploads by rsync', 'rsync'))('the log in a folder', () => {
  it('has all files of the tree, and loses those that went', async () => {
    const [out, copy] = [path('dist'), path('copy')];
    mkdirSync(copy);
    expect(await uploadBoth(out, `rsync:${copy}`, () => hashesOf(copy))).toEqual([]);
  }, 60_000);
});
