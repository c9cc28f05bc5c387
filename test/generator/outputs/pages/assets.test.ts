/** What pages load is there under the name that they load it by, and that name follows from its content. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundled } from '../../../../generator/outputs/pages/bundle.js';
import { published } from '../../../support/build.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { writeRegister } from '../../../support/register.js';
import { readTree } from '../../../support/tree.js';
import type { Tree } from '../../../support/tree.js';
import { DOCUMENTATION_FILES, manifestOf } from './site.js';

const path = temporary();
const out = path('dist');
let tree: Tree;
const text = (file: string): string => tree.get(file)?.text ?? '';
const hashes = (all: ReadonlyMap<string, { path: string; body: Uint8Array | string }>): object =>
  Object.fromEntries(
    [...all.values()].map(({ path: url, body }) => [url, createHash('sha256').update(body).digest('hex')]),
  );
const assets = (): string[] =>
  manifestOf(out).routes.flatMap((r) => (r.class === 'asset' && !r.file.includes('{') ? r.file : []));

beforeAll(async () => {
  const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1, member_count: 5 }] });
  await published({ register, out });
  tree = readTree(out);
});

describe('every asset', () => {
  it('has the hash of its content in its name, and is all there is below /assets/', () => {
    expect(assets().length).toBeGreaterThan(0);
    for (const file of assets()) {
      const [, digits] = /^assets\/[a-z\d-]+-([0-9a-f]{10})\.(?:css|js|woff2)$/.exec(file) ?? [];
      expect(digits, file).toBe(tree.get(file)?.sha256.slice(0, 10));
    }
    const below = [...tree.keys()].filter((file) => file.startsWith('assets/') && !/\.(gz|br)$/.test(file));
    expect(below.toSorted()).toEqual(assets().toSorted());
  });

  it('that a page or a script names is there', () => {
    const pages = ['index.html', ...DOCUMENTATION_FILES, 'downloads.html', 'feeds.html', 'group.html'];
    const named = [...pages, ...assets()].flatMap((file) =>
      [...text(file).matchAll(/["'(]\/(assets\/[^"')]*)["')]/g)].map(([, url = '']) => url),
    );
    expect(new Set(named).size).toBe(assets().length);
    for (const url of named) expect(tree.has(url), url).toBe(true);
  });

  it('has the same bytes whenever it is made, and is what was made last', async () => {
    const made = await bundled();
    const again = await bundled();
    const { assets: present } = await import('../../../../generator/assets.js');
    expect([...again]).toEqual([...made]);
    expect(hashes(made)).toEqual(hashes(present()));
  });

  it('that has a library in it has the notice that its licence requires, and no other comment', () => {
    const licence = readFileSync(join(PROJECT, 'node_modules/uplot/LICENSE'), 'utf8');
    const chart = text(assets().find((file) => /chart-\w+\.js$/.test(file)) ?? '');
    expect(chart.startsWith(`/*!\n${licence}*/\n`)).toBe(true);
    expect(chart.split('/*')).toHaveLength(2);
  });
});
