/** Copies of a signed tree, by the command. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { newKey } from '../log/naive.js';
import { damageOf, inProcess, leftovers, sha256 } from '../publish/support.js';
import { inState } from '../../support/tree.js';
import { documentsOf } from './made-up.js';
import { tilesOf } from '../log/naive.js';
import { SignedLog } from './signed-log.js';
import { copying } from './copies.js';

const { path, origin, out, run, published } = await copying();
let log: SignedLog;
beforeEach(() => {
  log = new SignedLog(origin);
});

const ONE = documentsOf({ 1: 'one', 2: 'two', 10: 'ten' });
const TWO = documentsOf({ 1: 'one', 2: 'second', 11: 'eleven' }, 'b');
const THREE = documentsOf({ 2: 'second', 12: 'twelve' }, 'c');

const report = z.object({
  origin: z.string(),
  size: z.int(),
  signed_by: z.array(z.string()),
  unknown_keys: z.array(z.string()),
  is_signed: z.boolean(),
  covers_manifest: z.boolean(),
});
const resultSchema = z.looseObject({ fetched: z.string(), requests: z.int(), log: report.nullable() });

async function mirrored(...options: string[]) {
  origin.asked();
  const { code, stdout, stderr } = await run('--json', ...options);
  expect([code, stderr]).toEqual([0, '']);
  expectLog();
  expect(leftovers(out)).toEqual([]);
  return { ...resultSchema.parse(JSON.parse(stdout)), asked: origin.asked() };
}

const inLog = (file: string): string => join(out, 'log', origin.tree, file);
const checkpoint = (): string => readFileSync(inLog('checkpoint'), 'utf8');

/** The copy has the log, and the text whose hash is the digest. */
function expectLog(): void {
  expect(checkpoint()).toBe(log.note);
  for (const [file, content] of tilesOf(log.entries))
    expect(readFileSync(inLog(file)).equals(content), file).toBe(true);
  expect(sha256(readFileSync(inLog('index/routes.txt')))).toBe(origin.history.at(-1)?.digest);
}

/** A run that publishes nothing. @returns its exit code and message */
async function failing(...options: string[]): Promise<[number | null, string]> {
  const before = published();
  origin.asked();
  const { code, stderr, stdout } = await run(...options);
  expect(stdout).toBe('');
  expect(published()).toEqual(before);
  expect(origin.asked().filter((url) => /downloads|changes|api/.test(url))).toEqual([]);
  return [code, stderr];
}

describe('a copy of a signed tree', () => {
  it('has its log, follows it, and costs two requests while nothing is new', async () => {
    origin.publish(ONE);
    log.sign();
    const [key] = log.keys;
    const first = await mirrored();
    expect(first).toMatchObject({
      fetched: 'everything',
      log: {
        origin: key?.name,
        size: 1,
        signed_by: [key?.vkey],
        unknown_keys: [],
        is_signed: true,
        covers_manifest: true,
      },
    });
    const entries = `${log.folder}/tile/entries/000.p`;
    expect(first.asked.slice(0, 3)).toEqual(['/snapshot.json', `${log.folder}/checkpoint`, `${entries}/1`]);
    expect(readFileSync(inLog('index/group/1.txt'), 'utf8')).toContain('  /api/v1/group/1\n');
    const again = await mirrored();
    expect([again.fetched, again.asked, again.log]).toEqual([
      'nothing',
      ['/snapshot.json', `${log.folder}/checkpoint`],
      first.log,
    ]);
    origin.publish(TWO);
    log.sign();
    const next = await mirrored();
    expect(next).toMatchObject({ fetched: 'changes', log: { size: 2 } });
    expect(next.asked.filter((url) => url.startsWith('/log/'))).toEqual([
      `${log.folder}/checkpoint`,
      `${entries}/2`,
    ]);
    origin.publish(THREE);
    log.fill(300);
    log.sign();
    expect(await mirrored()).toMatchObject({ log: { size: 303 } });
    for (const file of ['tile/0/000.p', 'tile/entries/000.p/2']) expect(existsSync(inLog(file))).toBe(false);
  });

  it('says who has signed', async () => {
    origin.publish(ONE);
    log.sign();
    const id = log.keys[0]?.id.toString('hex');
    const ended = await run();
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toContain(`\n  log      1 entry, signed by register.example+${id}\n`);
    const other = newKey('register.example', 1);
    log.name([...log.keys, other]);
    origin.publish(documentsOf({ 1: 'one', 2: 'two' }));
    log.sign();
    expect((await run('--quiet')).stderr).toBe(
      `warning: the origin names another key of its log, "${other.vkey}": if its operator confirms it, ` +
        'give it with --key, along with those that stay\n',
    );
  });

  it('takes cosignatures that were added, and gets back what was damaged in it', async () => {
    origin.publish(ONE);
    log.sign();
    await mirrored();
    for (const file of ['checkpoint', 'tile/entries/000.p/1', 'tile/0/000.p/1']) {
      rmSync(inLog(file));
      expect(await mirrored()).toMatchObject({ log: { size: 1 } });
    }
    const witness = newKey('witness.example', 4);
    const note = log.note + witness.cosignature(log.body, 1_800_000_000);
    origin.files.set(`${log.folder}/checkpoint`, Buffer.from(note));
    expect(await run()).toMatchObject({ code: 0 });
    expect(checkpoint()).toBe(note);
  });

  it('waits for the checkpoint of a snapshot that was only just published', async () => {
    origin.publish(ONE);
    log.sign();
    await mirrored();
    origin.publish(TWO);
    log.publish();
    let asked = 0;
    origin.instead = ({ url }) => {
      if (url === `${log.folder}/checkpoint` && (asked += 1) === 2) log.sign();
      return false;
    };
    expect(await mirrored()).toMatchObject({ fetched: 'changes', log: { size: 2, is_signed: true } });
    expect(asked).toBe(2);
  });

  it('copies another tree of its origin only after its log was forgotten', async () => {
    origin.publish(ONE);
    log.sign();
    log.fill(2);
    log.publish();
    origin.publish(TWO);
    log.sign();
    await mirrored();
    // What it remembers belongs to the log before.
    expect((await inProcess('verify', '--out', out)).code).toBe(0);
    const former = inLog('');
    const state = inState(out, 'mirror/log.json');
    origin.reset();
    origin.tree = 'b'.repeat(16);
    log = new SignedLog(origin);
    origin.publish(ONE);
    log.sign();
    const [code, message] = await failing();
    expect([code, message]).toEqual([1, expect.stringContaining('not signed by the expected key')]);
    rmSync(state);
    expect(await mirrored()).toMatchObject({ log: { size: 1 } });
    expect(existsSync(former)).toBe(false);
    expect(await damageOf(out)).toEqual([]);
  });
});

describe('an origin that goes back on what it said', () => {
  beforeEach(async () => {
    origin.publish(ONE);
    log.sign();
    origin.publish(TWO);
    log.sign();
    await mirrored();
  });

  it('by another history is refused, and nothing is fetched', async () => {
    log.entries[0] = log.entry({ sequence: 1, digest: 'f'.repeat(64) });
    origin.publish(THREE);
    log.sign();
    const [code, message] = await failing();
    expect(code).toBe(1);
    expect(message).toContain(
      "the origin's log shows another history than before: its 3 entries don't begin",
    );
    expect(message).toContain('; the published tree is what it was');
    rmSync(out, { recursive: true });
    expect((await failing())[0]).toBe(1);
  });

  it('by no longer signing is refused, and by another key', async () => {
    const { members } = origin;
    origin.members = {};
    origin.publish(THREE);
    expect((await failing())[1]).toContain('the origin has no signed log any more');
    origin.members = members;
    log.keys = [newKey('register.example', 1)];
    log.name(log.keys);
    origin.announce();
    log.sign();
    expect((await failing())[1]).toContain('give the new one with --key');
    expect(await mirrored('--key', log.keys[0]!.vkey)).toMatchObject({ log: { size: 3 } });
    expect(await mirrored()).toMatchObject({ fetched: 'nothing', log: { size: 3 } });
  });

  it('but was confirmed to do without a log is copied without', async () => {
    origin.members = {};
    origin.routes = origin.routes.filter(({ name }) => !name.startsWith('log-'));
    origin.publish(THREE);
    const own = join(out, 'log/readme.txt');
    mkdirSync(dirname(own), { recursive: true });
    writeFileSync(own, 'not ours');
    rmSync(inState(out, 'mirror/log.json'));
    const { code, stdout } = await run('--json');
    expect([code, resultSchema.parse(JSON.parse(stdout)).log]).toEqual([0, null]);
    expect(Object.keys(published()).filter((file) => file.startsWith('log/'))).toEqual(['log/readme.txt']);
  });
});

describe('--key', () => {
  beforeEach(() => {
    origin.publish(ONE);
    log.sign();
  });

  it('takes a key, or a file of keys, and refuses a log of another', async () => {
    const other = newKey('register.example', 1);
    const [code, message] = await failing('--key', other.vkey);
    expect([code, message]).toEqual([1, expect.stringContaining("the origin's log can't be trusted")]);
    const file = path('keys.pub');
    writeFileSync(file, `${other.vkey}\n${log.keys[0]?.vkey}\n`);
    expect(await mirrored('--key', file)).toMatchObject({ log: { signed_by: [log.keys[0]?.vkey] } });
  });

  it('refuses an origin that is not signed', async () => {
    origin.members = {};
    origin.announce();
    expect(await failing('--key', log.keys[0]!.vkey)).toEqual([
      1,
      expect.stringContaining('the origin has no signed log, expected one by the given key'),
    ]);
  });

  it.each([
    ['of a witness', () => newKey('w.example', 4).vkey, 2, 'has the key of a witness'],
    ['of another name', () => log.keys[0]!.vkey.replace('register', 'other'), 2, 'its id is of another key'],
  ])('refuses a key %s', async (_, key, code, message) => {
    expect(await failing('--key', key())).toEqual([code, expect.stringContaining(message)]);
  });
});
