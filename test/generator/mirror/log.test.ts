/** What a copy believes of its origin's log, and what it never does. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../../generator/mirror/client.js';
import { FetchedFiles } from '../../../generator/mirror/files.js';
import type { Run } from '../../../generator/mirror/files.js';
import { fetchCheckpoint, fetchLog } from '../../../generator/mirror/log.js';
import { parseOrigin } from '../../../generator/mirror/origin.js';
import { parseVerifier } from '../../../generator/keys.js';
import { publishCopiedLog } from '../../../generator/log/publish-entry.js';
import { Tree } from '../../../generator/tree/tree.js';
import { newKey } from '../log/naive.js';
import type { Key } from '../log/naive.js';
import { quiet } from '../../support/build.js';
import { copying } from './copies.js';
import { documentsOf } from './made-up.js';
import { tilesOf } from '../log/naive.js';
import { SignedLog } from './signed-log.js';

const { path, origin, base } = await copying();
let log: SignedLog;
let client: Client;
let tree: Tree;
let run: Run;

const ONE = documentsOf({ 1: 'one' });

beforeEach(() => {
  log = new SignedLog(origin);
  client = new Client(new URL(base), 'test', quiet());
  tree = new Tree(path('copy'));
  run = { tree, client, files: new FetchedFiles(tree, client), progress: quiet() };
});
afterEach(() => client.close());

interface Options {
  readonly keys: readonly Key[];
  readonly acceptsUnsigned: boolean;
}
const given = (...keys: readonly Key[]): Options => ({ keys, acceptsUnsigned: false });
const NONE = given();

function snapshot() {
  const content = origin.files.get('/snapshot.json') ?? Buffer.alloc(0);
  return { origin: parseOrigin(content), content };
}
async function fetched({ keys, acceptsUnsigned } = NONE) {
  const verifiers = keys.map(({ vkey }) => parseVerifier(vkey));
  const signedCheckpoint = await fetchCheckpoint(run, snapshot().origin, verifiers);
  return fetchLog(run, snapshot(), signedCheckpoint, acceptsUnsigned);
}
/** What the copy says of its log if it has all of it. */
async function held() {
  const signedCheckpoint = await fetchCheckpoint(run, snapshot().origin, []);
  if (signedCheckpoint?.isHeld !== true) return undefined;
  return (await fetchLog(run, snapshot(), signedCheckpoint, true)).report;
}
/** Fetches the log and publishes it in the copy. */
async function copied(options = NONE) {
  const found = await fetched(options);
  mkdirSync(tree.out, { recursive: true });
  publishCopiedLog(tree, { id: origin.tree, sequence: 1 }, found.files);
  return found;
}

/** The error of a run that finds something wrong, after which the copy is as it was. */
async function refusal(options = NONE): Promise<string> {
  try {
    await fetched(options);
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error('expected a refusal');
}

/** Publishes a snapshot and signs it. */
function signed(count = 1): void {
  for (let at = 0; at < count; at += 1) {
    origin.publish(documentsOf({ 1: `${origin.history.length}` }));
    log.sign();
  }
}

/** The copy has every tile of the origin's log, and the checkpoint. */
function expectWhole(): void {
  const folder = join(tree.out, 'log', origin.tree);
  for (const [file, content] of tilesOf(log.entries))
    expect(readFileSync(join(folder, file)).equals(content), file).toBe(true);
  expect(readFileSync(join(folder, 'checkpoint'), 'utf8')).toBe(log.note);
}

describe('the first copy of a log', () => {
  it.each([1, 256, 257])(
    'of %i entries has its entries, and tiles that are computed from them',
    async (size) => {
      origin.publish(ONE);
      log.fill(size - 1);
      log.sign();
      const found = await copied();
      expectWhole();
      expect(found.report).toEqual({
        origin: 'register.example',
        size,
        signedBy: [log.keys[0]?.vkey],
        unknownKeys: [],
        isSigned: true,
        coversManifest: true,
      });
      const asked = origin.asked();
      expect(asked).toHaveLength(1 + Math.ceil(size / 256));
      expect(asked.slice(1).every((url) => url.includes('/tile/entries/'))).toBe(true);
    },
  );

  it.each<[string, () => Buffer | string]>([
    [
      'a log of no entries',
      () => signedText('register.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'),
    ],
    ['a log without end', () => signedText(log.body.replace('\n1\n', '\n9007199254740991\n'))],
    ['more than a checkpoint has', () => Buffer.alloc(70_000, 0x61)],
  ])('whose checkpoint is %s is refused', async (_, content) => {
    signed();
    origin.files.set(`${log.folder}/checkpoint`, Buffer.from(content()));
    await refusal();
    expect(existsSync(join(tree.state, 'mirror/log.json'))).toBe(false);
  });

  it('is refused whichever byte of the checkpoint or of the entries has another bit', async () => {
    signed(2);
    for (const file of [`${log.folder}/checkpoint`, `${log.folder}/tile/entries/000.p/2`]) {
      const content = origin.files.get(file)!;
      for (let at = 0; at < content.length; at += 1) {
        const changed = Buffer.from(content);
        changed[at] = (content[at] ?? 0) ^ (1 << (at % 8));
        origin.files.set(file, changed);
        expect(await refusal()).toMatch(/./);
      }
      origin.files.set(file, content);
    }
    expect(await fetched()).toBeDefined();
  });

  it('reads no more of a bundle than its entries can have', async () => {
    signed();
    origin.files.set(`${log.folder}/tile/entries/000.p/1`, Buffer.alloc(70_000));
    expect(await refusal()).toContain('has more than 65537 bytes');
  });

  it.each([
    ['its entry is of another tree', (entry: string) => entry.replace(/tree \w+/, `tree ${'b'.repeat(16)}`)],
    [
      'its entry has another digest',
      (entry: string) => entry.replace(/digest \w/, 'digest x').replace('x', '0'),
    ],
    ['its entry is of a later snapshot', (entry: string) => entry.replace('sequence 3', 'sequence 4')],
  ])('whose newest entry is not the snapshot’s is refused: %s', async (_, change) => {
    signed(2);
    origin.publish(documentsOf({ 1: 'x' }));
    // A digest may begin with 0.
    const entry = change(log.entry());
    log.entries.push(entry === log.entry() ? entry.replace('digest 0', 'digest 1') : entry);
    log.publish();
    expect(await refusal()).toMatch(/^the newest entry of the log is of snapshot \d of tree/);
  });

  it('whose newest entry is of a form that is not known is refused', async () => {
    origin.publish(ONE);
    log.entries.push('register-api/snapshot@v2\n');
    log.publish();
    expect(await refusal()).toContain('register-api/snapshot@v1');
  });

  it('reads a log of other names or places for no tree', async () => {
    signed();
    for (const member of [
      { path: `/log/${'b'.repeat(16)}` },
      { path: '//evil.example/log' },
      { path: `${log.folder}/../x` },
      { keys: [] },
      { origin: '' },
      { origin: 'x\u001B[2J' },
    ]) {
      origin.announce({ log: { path: log.folder, origin: 'x', keys: [log.keys[0]?.vkey], ...member } });
      expect(() => snapshot()).toThrow(/can't be used/);
    }
  });
});

function signedText(text: string): string {
  return `${text}\n${log.keys.map((key) => key.signature(text)).join('')}`;
}

describe('a log that grew', () => {
  it('has its new entries fetched, and partial tiles go once the full ones are there', async () => {
    origin.publish(ONE);
    log.fill(253);
    const partial = (width: number): string => join(tree.out, 'log', origin.tree, `tile/0/000.p/${width}`);
    for (const [size, bundles] of [
      [254, ['000.p/254']],
      [255, ['000.p/255']],
      [256, ['000']],
      [258, ['001.p/2']],
      [600, ['001', '002.p/88']],
    ] as const) {
      log.fill(size - log.entries.length - 1);
      log.sign();
      origin.asked();
      await copied();
      expectWhole();
      expect(origin.asked()).toEqual([
        `${log.folder}/checkpoint`,
        ...bundles.map((file) => `${log.folder}/tile/entries/${file}`),
      ]);
      expect([254, 255].map((width) => existsSync(partial(width)))).toEqual([size < 256, size === 255]);
    }
    expect(existsSync((await fetched()).files.staged)).toBe(false);
    origin.asked();
    expect(await held()).toMatchObject({ size: 600, isSigned: true });
    expect(origin.asked()).toEqual([`${log.folder}/checkpoint`]);
  });
});

describe('a snapshot that is not signed yet', () => {
  it('is refused unless it is accepted, and only if the one before it is', async () => {
    signed(2);
    origin.publish(documentsOf({ 1: 'x' }));
    log.publish();
    expect(await refusal()).toBe('snapshot 3 is not in the signed log yet');
    expect((await copied({ ...NONE, acceptsUnsigned: true })).report).toMatchObject({
      size: 2,
      isSigned: false,
    });
    origin.publish(documentsOf({ 1: 'y' }));
    log.publish();
    const options = { ...NONE, acceptsUnsigned: true };
    expect(await refusal(options)).toMatch(/^the newest entry of the log is of snapshot 2/);
    log.entries.push(log.entry());
    log.publish();
    expect((await copied()).report).toMatchObject({ size: 3, isSigned: true });
  });
});

/** Puts other entries in the place of the last, up to a size. */
function fork(size: number): void {
  log.entries = log.entries.slice(0, -1);
  log.entries.push(log.entry({ sequence: 1, digest: 'f'.repeat(64) }));
  log.fill(size - log.entries.length - 1);
  log.sign();
}

/** The message names two files with signed checkpoints. */
function expectProof(message: string, before: string): void {
  expect(message).toContain("the origin's log shows another history than before");
  const files = [...message.matchAll(/"([^"]+)"/g)].map(([, file]) => readFileSync(file ?? '', 'utf8'));
  expect(files[0]).toContain(JSON.stringify(before).slice(1, -1));
  expect(files[1]).toBe(log.note);
}

describe('another history', () => {
  it.each([
    ['of the same size', 3, 3],
    ['that goes on across tiles', 254, 300],
    ['that goes on from full tiles and more', 300, 700],
  ])('%s is refused, and both checkpoints are kept', async (_, before, after) => {
    origin.publish(ONE);
    log.fill(before - 1);
    log.sign();
    await copied();
    const { note } = log;
    if (after === before) log.entries = log.entries.slice(0, -1);
    fork(after);
    expectProof(await refusal(), note);
    expect(await refusal()).toContain('another history');
    // Again, and by a copy that lost its tree, or whose tree is damaged.
    expectProof(await refusal(), note);
    rmSync(tree.out, { recursive: true });
    expectProof(await refusal(), note);
  });

  it('is not missed because the state is damaged', async () => {
    signed();
    await copied();
    const file = join(tree.state, 'mirror/log.json');
    for (const content of ['', '{}', '{"keys":[],"checkpoint":""}', '{"keys":["x"],"checkpoint":"x"}']) {
      writeFileSync(file, content);
      expect(await refusal(), content).toContain('log.json" is damaged');
    }
  });
});

describe('the key of a log', () => {
  it('stays trusted while both sign; the new one alone has to be given', async () => {
    signed();
    await copied();
    const old = log.keys[0]!;
    const next = newKey(old.name, 1);
    log.keys = [old, next];
    log.name([old, next]);
    signed();
    expect((await copied()).report).toMatchObject({ signedBy: [old.vkey], unknownKeys: [next.vkey] });
    // Whoever serves the file can add a signature of any key, so this has not made it trusted.
    log.keys = [next];
    log.name([next]);
    signed();
    const message = await refusal();
    expect(message).toContain('not signed by the expected key');
    expect(message).toContain('give the new one with --key');
    expect((await copied(given(next))).report).toMatchObject({ signedBy: [next.vkey], unknownKeys: [] });
    signed();
    expect((await copied()).report).toMatchObject({ size: 4, signedBy: [next.vkey] });
  });

  it('may be one of several, of which some are of an unknown kind or of witnesses', async () => {
    signed();
    const [key] = log.keys;
    const witness = newKey('witness.example', 4);
    const unknown = 'register.example+0badc0de+BgAA';
    origin.announce({
      log: { path: log.folder, origin: key!.name, keys: [unknown, witness.vkey, key!.vkey] },
    });
    log.entries = [];
    log.sign();
    origin.files.set(`${log.folder}/checkpoint`, Buffer.from(log.note + witness.cosignature(log.body, 1)));
    const { report, files } = await copied();
    expect(report).toMatchObject({ signedBy: [key!.vkey], unknownKeys: [] });
    expect(String(files.checkpoint)).toContain('— witness.example ');
  });

  it('of another name is another log, which must not take its place unnoticed', async () => {
    signed();
    await copied();
    const other = newKey('other.example', 1);
    log.keys = [other];
    log.name([other]);
    signed();
    expect(await refusal()).toContain('not signed by the expected key');
    const message = await refusal(given(other));
    expect(message).toContain('is "other.example" now and was "register.example"');
    rmSync(/delete "([^"]+)"/.exec(message)?.[1] ?? '');
    expect((await copied(given(other))).report).toMatchObject({ origin: 'other.example' });
  });
});
