/**
 * Signing at every call that changes the disk: the process dies there, or the disk is full from
 * there on. Whatever is published next, no key has signed two roots of one size.
 */
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { always, isThorough } from '../../../support/thorough.js';
import { createKey } from '../../../../generator/programs/log/key-file.js';
import {
  SWEEP,
  callsOf,
  deadFrom,
  fullFrom,
  spread,
  survive,
  withFault,
  withoutSync,
  type Fault,
} from '../../publish/faults.js';
import { LONG, publish, route, type Version } from '../../publish/small.js';
import { damageOf, failureOf, temporary } from '../../publish/support.js';
import { base64, rootOf } from './naive.js';
import { checkpointIn, entriesOf, logOf, problemsOf } from './published.js';

const path = temporary();

/** How many of the calls are tried. */
const PLACES = isThorough ? 100 : 10;

withoutSync();

const version = (documents: Version['documents'][string]): Version => ({
  routes: [route('a', '/a/{id}', 'a/{id}.json')],
  documents: { a: documents },
});
const OLD = version({ 1: 'one', 2: LONG, 3: 'three' });
const NEW = version({ 1: 'one', 2: 'another', 4: 'four' });
/** What is published after a death instead. */
const OTHER = version({ 1: 'other', 2: LONG });

interface Site {
  readonly out: string;
  readonly keys: readonly string[];
}

const at = (folder: string): Site => ({
  out: join(folder, 'dist'),
  keys: [join(folder, 'a.key'), join(folder, 'b.key')],
});

const lastOf = (key: string) => checkpointIn(`${key}.last`);
const rootAt = (out: string, size: number): string => base64(rootOf(entriesOf(logOf(out), size)));
const publishedOf = (out: string) =>
  existsSync(join(out, 'snapshot.json')) && existsSync(join(logOf(out), 'checkpoint'))
    ? checkpointIn(join(logOf(out), 'checkpoint'))
    : { size: 0, root: '' };

function copied(folder: string): Site {
  const copy = path('copy');
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  return at(copy);
}

/** Publishes something else, and checks what was signed before and after. */
async function expectOneHistory({ out, keys }: Site, vkeys: readonly string[], where: string): Promise<void> {
  const signed = keys.map(lastOf);
  const published = publishedOf(out);
  for (const { size, root } of signed) {
    expect(size, where).toBeGreaterThanOrEqual(published.size);
    const roots = size > 0 && size === published.size ? [published.root] : [root];
    expect(roots, where).toEqual([root]);
  }
  await publish(out, OTHER, ...keys);
  for (const vkey of vkeys) expect(problemsOf(out, vkey), where).toEqual([]);
  expect(await damageOf(out), where).toEqual([]);
  for (const { size, root } of [...signed, published].filter((each) => each.size > 0))
    expect(rootAt(out, size), where).toBe(root);
  for (const key of keys) expect(lastOf(key), where).toEqual(publishedOf(out));
}

describe.each([
  ['the first snapshot', []],
  ['the next snapshot', [OLD]],
])('signing %s', (_, before) => {
  /** A folder with keys and a tree, the verifier keys, and the number of calls of the next commit. */
  async function prepared() {
    const folder = path('site');
    mkdirSync(folder);
    const { out, keys } = at(folder);
    const vkeys = keys.map((key) => createKey('register.example/log', key));
    for (const each of before) await publish(out, each, ...keys);
    const copy = copied(folder);
    const calls = await callsOf(() => publish(copy.out, NEW, ...copy.keys));
    return { folder, vkeys, calls };
  }

  always('survives a death at every call', SWEEP, async () => {
    const { folder, vkeys, calls } = await prepared();
    for (const { number, name, path: file } of spread(calls, PLACES)) {
      const where = `dead at ${number} of ${calls.length}, ${name} ${file}`;
      const site = copied(folder);
      const attempt = (fault: Fault) => survive(withFault(fault, () => publish(site.out, NEW, ...site.keys)));
      await attempt(deadFrom(number));
      // Dead once more, somewhere else.
      await attempt(deadFrom(1 + ((number * 7) % calls.length)));
      await expectOneHistory(site, vkeys, where);
    }
    expect(calls.length).toBeGreaterThan(60);
  });

  always('signs nothing, or completes it, where the disk is full', SWEEP, async () => {
    const { folder, vkeys, calls } = await prepared();
    let refused = 0;
    for (const { number, name, path: file } of spread(
      calls.filter(({ grows }) => grows),
      PLACES,
    )) {
      const where = `full from ${number}, ${name} ${file}`;
      const site = copied(folder);
      const error = await failureOf(
        withFault(fullFrom(number), () => publish(site.out, NEW, ...site.keys)).then(() => {
          throw new Error('done');
        }),
      ).catch(() => undefined);
      const sizes = [...site.keys.map((key) => lastOf(key).size), publishedOf(site.out).size];
      const size = error === undefined ? before.length + 1 : before.length;
      expect([error?.exitCode ?? 3, ...sizes], where).toEqual([3, size, size, size]);
      if (error !== undefined) refused += 1;
      await expectOneHistory(site, vkeys, where);
    }
    expect(refused).toBeGreaterThan(isThorough ? 20 : 2);
  });
});
