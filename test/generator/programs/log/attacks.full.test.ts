/**
 * Attacks on a published, signed tree: which of our programs notices what, and thanks to what it
 * kept, as docs/signed-log.md says under "Who notices what". The attacker uses none of the generator's
 * code: what is signed again is computed by the documentation.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { inProcess, temporary } from '../../publish/support.js';
import { startProxy } from '../../../support/proxy.js';
import { inState, removeTree } from '../../../support/tree.js';
import { newKey, readKey, tilesOf, type Key } from './naive.js';
import { checkpointIn, entriesOf } from './published.js';
import { ORIGIN, checkpointOf, manifestHash } from './signed.js';
import { newSite, type Site } from './site.js';

const path = temporary();
const RECORD = '/api/v1/group/5';
const price = (value: number): string => `UPDATE items SET price = ${value} WHERE id = 3`;

/** Three snapshots are published, and all clients have seen the third. */
const base = newSite(path);
/** The same when there were two. */
let old: Site;

const kept = (site: Site, name: string): string => join(site.folder, name);

async function publish(site: Site, value: number): Promise<void> {
  site.change(price(value));
  await site.built();
}

/** The state says which tree it is of. */
function forgetPlaces(site: Site): Site {
  for (const tree of [site.out, kept(site, 'copy')]) rmSync(inState(tree, 'tree'), { force: true });
  return site;
}
const copyOf = (site: Site): Site => forgetPlaces(site.copy());

/** Replaces the tree and its state by another one's. */
function serve(site: Site, { out }: Site): void {
  removeTree(site.out);
  cpSync(out, site.out, { recursive: true });
  cpSync(inState(out), inState(site.out), { recursive: true });
  forgetPlaces(site);
}

/** The clients look at the tree, and keep what they keep. */
async function look(site: Site): Promise<void> {
  const proxy = await startProxy(site.out);
  const copying = ['mirror', proxy.base, '--out', kept(site, 'copy'), '--key', site.vkey];
  for (const args of [copying, ['verify', '--out', site.out]])
    expect(await inProcess(...args)).toMatchObject({ code: 0, stderr: '' });
  await proxy.stop();
  cpSync(inState(site.out, 'checkpoint'), kept(site, 'verified'));
}

/** Writes members of snapshot.json. */
function alter({ out }: Site, members: object): void {
  const file = join(out, 'snapshot.json');
  const json = z.looseObject({}).parse(JSON.parse(readFileSync(file, 'utf8')));
  writeFileSync(file, JSON.stringify({ ...json, ...members }));
}

/** Replaces the log, with the tiles of all its sizes. */
function sign({ log }: Site, key: Key, entries: readonly string[]): void {
  rmSync(join(log, 'tile'), { recursive: true });
  const sizes = entries.map((_, index) => [...tilesOf(entries.slice(0, index + 1))]);
  for (const [name, content] of [
    ...sizes.flat(),
    ['checkpoint', key.note(checkpointOf(ORIGIN, entries))],
  ] as const) {
    mkdirSync(dirname(join(log, name)), { recursive: true });
    writeFileSync(join(log, name), content);
  }
}

const entriesIn = ({ log }: Site): string[] => entriesOf(log, checkpointIn(join(log, 'checkpoint')).size);

/** What a client had kept when it noticed an attack. */
type When = 'at once' | 'kept key' | 'kept checkpoint' | 'no';
/** And what it says. */
type Noticed = readonly [when: When, why: string];
type Client = 'verify' | 'new copy' | 'copy' | 'prove' | 'next build';

/** The reason of a command that fails. */
async function reasonOf(work: ReturnType<typeof inProcess>): Promise<string | undefined> {
  const { code, stdout, stderr } = await work;
  expect(code === 0 ? stderr : code).toBe(code === 0 ? '' : 1);
  return code === 0 ? undefined : stderr + stdout;
}

/** The first that has a reason. Those that keep more notice no less. */
function first(...attempts: readonly (readonly [When, string | undefined])[]): Noticed {
  const at = attempts.findIndex(([, why]) => why !== undefined);
  if (at >= 0) expect(attempts.slice(at).filter(([, why]) => why === undefined)).toEqual([]);
  const [when, why = ''] = attempts[at] ?? ['no'];
  return [when, why];
}

/** What each client notices of the tree as it is now. */
async function noticedBy(site: Site): Promise<Readonly<Record<Client, Noticed>>> {
  const { out, vkey } = site;
  const proxy = await startProxy(out);
  const command = (...args: string[]) => reasonOf(inProcess(...args));
  const mirror = (to: string, ...options: string[]) =>
    command('mirror', proxy.base, '--out', kept(site, to), ...options);
  const proof = kept(site, 'new.tlog-proof');
  const [copied, copiedByKey, followed, proven] = await Promise.all([
    mirror('new'),
    mirror('new-by-key', '--key', vkey),
    mirror('copy'),
    command('prove', proxy.base, RECORD, '--write', proof, '--quiet'),
  ]);
  await proxy.stop();
  const verified = proven ?? (await command('verify-proof', proof, '--key', vkey));
  rmSync(inState(out, 'checkpoint'), { force: true });
  const unknowing = await command('verify', '--out', out);
  cpSync(kept(site, 'verified'), inState(out, 'checkpoint'));
  const knowing = await command('verify', '--out', out);
  return {
    verify: first(['at once', unknowing], ['kept checkpoint', knowing]),
    'new copy': first(['at once', copied], ['kept key', copiedByKey]),
    copy: first(['kept checkpoint', followed]),
    prove: first(['at once', proven], ['kept key', verified]),
    'next build': first(['kept checkpoint', await reasonOf(site.run('build', '--key', site.key))]),
  };
}

beforeAll(async () => {
  await publish(base, 10);
  await publish(base, 20);
  old = copyOf(base);
  await publish(base, 30);
  await look(base);
});

const CHECKPOINT = 'kept checkpoint';
const UNCOVERED = '/snapshot.json is not the one that the newest entry of the log covers';
const ALTERED: Noticed = ['at once', 'altered: snapshot.json\n'];
const REWRITTEN: Noticed = [CHECKPOINT, 'rewritten: log/'];
const SHORTER: Noticed = [
  CHECKPOINT,
  'has 2 entries and had 3 before: it shows an older state, or another history',
];

/** What is done, and who notices it: clients that are not named don't. */
it.concurrent.each<[string, (site: Site) => unknown, Readonly<Partial<Record<Client, Noticed>>>]>([
  ['nothing', () => undefined, {}],
  [
    'limits in snapshot.json are altered',
    (site) => {
      const limit = { tokens: 1_000_000, refill_seconds: 0.001 };
      const download = { ...limit, token_bytes: 4 * 1024 * 1024 };
      alter(site, { limits: { api: limit, download, page: limit } });
    },
    // The next build writes snapshot.json again.
    { verify: ALTERED, 'new copy': ['at once', UNCOVERED], copy: [CHECKPOINT, UNCOVERED] },
  ],
  [
    'the file of a record is edited',
    ({ out }) => {
      const file = join(out, `${RECORD}.json`);
      writeFileSync(file, readFileSync(file, 'utf8').replace('"group 5"', '"group X"'));
    },
    // Copies take records from the downloads, and so the one that was published.
    {
      verify: ['at once', 'altered: api/v1/group/5.json\n'],
      prove: ['at once', '/api/v1/group/5 is not as signed snapshot 3 lists it'],
    },
  ],
  [
    'a snapshot is dropped, by a copy of the key',
    (site) => {
      const [one = '', , three = ''] = entriesIn(site);
      sign(site, readKey(site.key), [one, three]);
    },
    {
      verify: REWRITTEN,
      copy: SHORTER,
      'next build': [CHECKPOINT, 'has signed a log of 3 snapshots, and '],
    },
  ],
  [
    'a fork is shown to readers who have seen the other side',
    async (site) => {
      const other = copyOf(site);
      await publish(other, 50);
      await publish(site, 40);
      await look(site);
      serve(site, other);
    },
    {
      verify: REWRITTEN,
      copy: [CHECKPOINT, 'prove by two signed checkpoints'],
      'next build': [CHECKPOINT, 'has other ones: to go on would sign a second history'],
    },
  ],
  [
    'an old tree is served again',
    (site) => serve(site, old),
    { verify: REWRITTEN, copy: SHORTER, 'next build': [CHECKPOINT, 'has only 2 of them'] },
  ],
  [
    'another key of the same name signs one more entry',
    (site) => {
      const key = newKey(ORIGIN, 1);
      const log = { path: site.log.slice(site.out.length), origin: ORIGIN, keys: [key.vkey] };
      alter(site, { log });
      const hash = manifestHash(readFileSync(join(site.out, 'snapshot.json'), 'utf8'));
      const entries = entriesIn(site);
      const another = entries[2]!.replace(/manifest \w+/, `manifest ${hash}`);
      sign(site, key, [...entries, another]);
    },
    {
      // It takes the keys that snapshot.json names, but the state knows what that was.
      verify: ALTERED,
      'new copy': ['kept key', "the origin's log can't be trusted"],
      copy: [CHECKPOINT, "the origin's log can't be trusted"],
      prove: ['kept key', 'the note is not signed by the expected key'],
      'next build': [CHECKPOINT, 'none of the keys has signed the checkpoint'],
    },
  ],
])('%s', async (_, attack, noticed) => {
  const site = copyOf(base);
  await attack(site);
  const none: Noticed = ['no', ''];
  const all = { verify: none, 'new copy': none, copy: none, prove: none, 'next build': none, ...noticed };
  const expected = Object.entries(all).map(([client, [when, why]]) => [
    client,
    [when, expect.stringContaining(why)],
  ]);
  expect(await noticedBy(site)).toEqual(Object.fromEntries(expected));
});
