/** Copies of a signed tree: what they have of its log, what they believe of it, and what they never do. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { newKey, tilesOf, type Key } from '../log/naive.js';
import { damageOf, inProcess, sha256 } from '../../publish/support.js';
import { inState } from '../../../support/tree.js';
import { containing, matching } from '../../../support/values.js';
import { documentsOf, type Documents } from './made-up.js';
import { SignedLog } from './signed-log.js';
import { copying } from './copies.js';

const { path, origin, out, run, copied, published, refused } = await copying();
let log: SignedLog;
beforeEach(() => {
  log = new SignedLog(origin);
});

const ONE = documentsOf({ 1: 'one', 2: 'two', 10: 'ten' });
const TWO = documentsOf({ 1: 'one', 2: 'second', 11: 'eleven' }, 'b');
const THREE = documentsOf({ 2: 'second', 12: 'twelve' }, 'c');

/** Publishes a snapshot and signs it. */
function sign(documents: Documents): void {
  origin.publish(documents);
  log.sign();
}

/** Has a first signed snapshot mirrored. */
async function begin(): Promise<void> {
  sign(ONE);
  await mirrored();
}

async function mirrored(...options: string[]) {
  const result = await copied(...options);
  expectLog();
  return result;
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

/** A run in vain, which asks for no document. @returns its exit code and message */
async function failing(...options: string[]): Promise<[number | null, string]> {
  origin.asked();
  const ended = await refused(...options);
  expect(origin.asked().filter((url) => /downloads|changes|api/.test(url))).toEqual([]);
  return ended;
}

describe('a copy of a signed tree', () => {
  it('has its log, follows it, and costs two requests while nothing is new', async () => {
    sign(ONE);
    const first = await mirrored();
    const { name, vkey } = log.keys[0]!;
    const report = { origin: name, size: 1, signed_by: [vkey], unknown_keys: [], is_signed: true };
    expect(first).toMatchObject({ fetched: 'everything', log: report });
    const inOrder = ['/snapshot.json', `${log.folder}/checkpoint`, `${log.folder}/tile/entries/000.p/1`];
    expect(first.asked.slice(0, 3)).toEqual(inOrder);
    expect(readFileSync(inLog('index/group/1.txt'), 'utf8')).toContain('  /api/v1/group/1\n');
    const { fetched, asked, log: again } = await mirrored();
    expect([fetched, asked, again]).toEqual(['nothing', inOrder.slice(0, 2), first.log]);
  });

  it('has its new entries fetched, and partial tiles go once the full ones are there', async () => {
    for (const [size, bundles] of [
      [254, ['000.p/254']],
      [255, ['000.p/255']],
      [256, ['000']],
      [258, ['001.p/2']],
      [600, ['001', '002.p/88']],
    ] as const) {
      origin.publish(documentsOf({ 1: `of ${size}` }));
      log.fill(size - log.entries.length - 1);
      log.sign();
      const { asked, log: found } = await mirrored();
      expect(found).toMatchObject({ size });
      expect(asked.filter((url) => url.startsWith('/log/'))).toEqual([
        `${log.folder}/checkpoint`,
        ...bundles.map((file) => `${log.folder}/tile/entries/${file}`),
      ]);
      const partials = [254, 255].map((width) => existsSync(inLog(`tile/0/000.p/${width}`)));
      expect(partials).toEqual([size < 256, size === 255]);
    }
  });

  it('says who has signed, and which keys it does not know', async () => {
    sign(ONE);
    const id = log.keys[0]?.id.toString('hex');
    const report = new RegExp(
      `, copied from the start\n[^]*\n  log      1 entry, signed by register.example\\+${id}\n`,
    );
    expect(await run()).toEqual({ code: 0, stdout: matching(report), stderr: '' });
    const other = newKey('register.example', 1);
    log.name([...log.keys, other]);
    sign(documentsOf({ 1: 'one', 2: 'two' }));
    expect((await run('--quiet')).stderr).toBe(
      `warning: the origin names another key of its log, "${other.vkey}": if its operator confirms it, ` +
        'give it with --key, along with those that stay\n',
    );
  });

  it('takes signatures of others that were added, and gets back what was damaged in it', async () => {
    await begin();
    for (const file of ['checkpoint', 'tile/entries/000.p/1', 'tile/0/000.p/1']) {
      rmSync(inLog(file));
      expect(await mirrored()).toMatchObject({ log: { size: 1 } });
    }
    const note = log.note + newKey('monitor.example', 1).signature(log.body);
    origin.files.set(`${log.folder}/checkpoint`, Buffer.from(note));
    expect(await run()).toMatchObject({ code: 0 });
    expect(checkpoint()).toBe(note);
  });

  it('waits for the checkpoint of a snapshot that was only just published', async () => {
    await begin();
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

  it('has a snapshot that is not signed yet after five tries, if the one before is', async () => {
    sign(ONE);
    origin.publish(TWO);
    log.publish();
    const { asked, log: found } = await mirrored();
    expect(found).toMatchObject({ size: 1, is_signed: false });
    const again = Array.from({ length: 4 }, () => '/snapshot.json no-cache');
    expect(asked.filter((url) => url.startsWith('/snapshot.json'))).toEqual(['/snapshot.json', ...again]);
    expect((await run('--quiet')).stderr).toBe(
      'warning: snapshot 2 is not in the signed log yet, only the one before it is\n',
    );
    origin.publish(THREE);
    log.publish();
    expect((await failing())[1]).toContain(': the newest entry of the log is of snapshot 1');
    log.sign();
    expect(await mirrored()).toMatchObject({ log: { size: 2, is_signed: true } });
  });

  it('copies another tree of its origin only after its log was forgotten', async () => {
    sign(ONE);
    log.fill(2);
    log.publish();
    sign(TWO);
    await mirrored();
    // What it remembers belongs to the log before.
    expect((await inProcess('verify', '--out', out)).code).toBe(0);
    const former = inLog('');
    const state = inState(out, 'mirror/log.json');
    origin.reset();
    origin.tree = 'b'.repeat(16);
    log = new SignedLog(origin);
    sign(ONE);
    expect(await failing()).toEqual([1, containing('not signed by the expected key')]);
    rmSync(state);
    expect(await mirrored()).toMatchObject({ log: { size: 1 } });
    expect(existsSync(former)).toBe(false);
    expect(await damageOf(out)).toEqual([]);
  });
});

const signedText = (text: string): string =>
  `${text}\n${log.keys.map((key) => key.signature(text)).join('')}`;
const EMPTY = 'register.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n';

const serve = (file: string, content: string | Buffer): void =>
  void origin.files.set(`${log.folder}/${file}`, Buffer.from(content));
const signEntry = (from: RegExp, to: string): void => {
  log.entries = [log.entry().replace(from, to)];
  log.publish();
};
const nameLog = (members: object): void =>
  origin.announce({ log: { path: log.folder, origin: 'x', keys: [log.keys[0]?.vkey], ...members } });

describe('a log', () => {
  beforeEach(() => sign(ONE));
  const UNUSABLE = "snapshot.json of the origin can't be used";
  const OTHER_ENTRY = 'the newest entry of the log is of snapshot';

  it.each<[string, () => void, string]>([
    ['of no entries', () => serve('checkpoint', signedText(EMPTY)), 'and of 0 entries, expected'],
    [
      'without end',
      () => serve('checkpoint', signedText(log.body.replace('\n1\n', '\n9007199254740991\n'))),
      'expected "register.example" as in its keys, and 1 to 16777216 entries',
    ],
    ['of an endless checkpoint', () => serve('checkpoint', Buffer.alloc(70_000, 0x61)), 'more than 65536'],
    ['of an endless entry', () => serve('tile/entries/000.p/1', Buffer.alloc(70_000)), 'more than 65537'],
    ['of another tree', () => signEntry(/tree \w+/, `tree ${'b'.repeat(16)}`), OTHER_ENTRY],
    ['of another digest', () => signEntry(/digest \w{8}/, 'digest 01234567'), OTHER_ENTRY],
    ['of a later snapshot', () => signEntry(/sequence 1/, 'sequence 2'), OTHER_ENTRY],
    ['of an unknown form', () => signEntry(/@v2[^]*/, '@v1\n'), 'register-api/snapshot@v2'],
    ['in the place of another', () => nameLog({ path: `/log/${'b'.repeat(16)}` }), UNUSABLE],
    ['on another host', () => nameLog({ path: '//evil.example/log' }), UNUSABLE],
    ['outside its folder', () => nameLog({ path: `${log.folder}/../x` }), UNUSABLE],
    ['without keys', () => nameLog({ keys: [] }), UNUSABLE],
    ['without a name', () => nameLog({ origin: '' }), UNUSABLE],
    ['whose name says more', () => nameLog({ origin: 'x\u001B[2J' }), UNUSABLE],
  ])('%s is refused', async (_, break_, message) => {
    break_();
    expect(await failing()).toEqual([1, containing(message)]);
    // Its keys are believed once its checkpoint is that of its entries.
    expect(existsSync(inState(out, 'mirror/log.json'))).toBe(/entry of the log|@v2/.test(message));
  });

  it('is refused if a bit of its entries is another', async () => {
    const name = 'tile/entries/000.p/1';
    const content = origin.files.get(`${log.folder}/${name}`)!;
    for (let at = 0; at < content.length; at += 37) {
      serve(name, Buffer.from(content.with(at, content[at]! ^ (1 << (at % 8)))));
      expect((await failing())[0], `byte ${at}`).toBe(1);
    }
  });
});

describe('another history', () => {
  it.each([
    ['of the same size', 3, 3],
    ['that goes on across tiles', 254, 300],
    ['that goes on from full tiles and more', 300, 700],
  ])('%s is refused, and both checkpoints are kept', async (_, before, after) => {
    origin.publish(ONE);
    log.fill(before - 1);
    log.sign();
    await mirrored();
    const { note } = log;
    log.entries = log.entries.slice(0, after === before ? -2 : -1);
    log.entries.push(log.entry({ sequence: 1, digest: 'f'.repeat(64) }));
    log.fill(after - log.entries.length - 1);
    log.sign();
    // Again, and by a copy that lost its tree.
    const reason = `the origin's log shows another history than before: its ${after} entries don't begin`;
    for (const isFirst of [true, false]) {
      const [code, message] = await failing();
      expect([code, message]).toEqual([1, containing(reason)]);
      expect(message).toContain('; the published tree is what it was');
      const files = [...message.matchAll(/"([^"]+)"/g)].map(([, file = '']) => readFileSync(file, 'utf8'));
      expect(files).toEqual([containing(JSON.stringify(note).slice(1, -1)), log.note]);
      if (isFirst) rmSync(out, { recursive: true });
    }
  });

  it('is not missed because the state is damaged', async () => {
    await begin();
    for (const content of ['', '{}', '{"keys":[],"checkpoint":""}', '{"keys":["x"],"checkpoint":"x"}']) {
      writeFileSync(inState(out, 'mirror/log.json'), content);
      expect(await failing()).toEqual([3, containing('log.json" is damaged')]);
    }
  });
});

/** Signs with these keys from now on, and names them. */
function use(...keys: readonly Key[]): void {
  log.keys = keys;
  log.name(keys);
}
const signNext = (): void => sign(documentsOf({ 1: `${origin.history.length}` }));

describe('the key of a log', () => {
  beforeEach(async () => {
    signNext();
    await mirrored();
  });

  it('stays trusted while both sign; the new one alone has to be given', async () => {
    const [old] = log.keys;
    const next = newKey('register.example', 1);
    use(old!, next);
    signNext();
    expect((await mirrored()).log).toMatchObject({ signed_by: [old!.vkey], unknown_keys: [next.vkey] });
    // Whoever serves the file can add a signature of any key, so this has not made it trusted.
    use(next);
    signNext();
    const reason = /not signed by the expected key.*give the new one with --key/;
    expect(await failing()).toEqual([1, matching(reason)]);
    const trusted = { signed_by: [next.vkey], unknown_keys: [] };
    expect((await mirrored('--key', next.vkey)).log).toMatchObject(trusted);
    signNext();
    expect((await mirrored()).log).toMatchObject({ size: 4, signed_by: [next.vkey] });
  });

  it('may be one of several, of which some are of an unknown kind', async () => {
    const key = log.keys[0]!;
    const other = newKey('witness.example', 4);
    const keys = ['register.example+0badc0de+BgAA', other.vkey, key.vkey];
    origin.members = { log: { path: log.folder, origin: key.name, keys } };
    signNext();
    const note = log.note + other.signature(log.body);
    origin.files.set(`${log.folder}/checkpoint`, Buffer.from(note));
    expect((await copied()).log).toMatchObject({ signed_by: [key.vkey], unknown_keys: [] });
    expect(checkpoint()).toBe(note);
    expect(await damageOf(out)).toEqual([]);
  });

  it('of another name is another log, which must not take its place unnoticed', async () => {
    const other = newKey('other.example', 1);
    use(other);
    signNext();
    expect((await failing())[1]).toContain('not signed by the expected key');
    const [, message] = await failing('--key', other.vkey);
    expect(message).toContain('is "other.example" now and was "register.example"');
    rmSync(/delete "([^"]+)"/.exec(message)?.[1] ?? '');
    expect((await mirrored('--key', other.vkey)).log).toMatchObject({ origin: 'other.example' });
  });
});

it('an origin that no longer signs is refused, and copied without a log once that was confirmed', async () => {
  signNext();
  await mirrored();
  origin.members = {};
  origin.publish(THREE);
  expect((await failing())[1]).toContain('the origin has no signed log any more');
  origin.routes = origin.routes.filter(({ name }) => !name.startsWith('log-'));
  origin.announce();
  const own = join(out, 'log/readme.txt');
  mkdirSync(dirname(own), { recursive: true });
  writeFileSync(own, 'not ours');
  rmSync(inState(out, 'mirror/log.json'));
  expect((await copied()).log).toBeNull();
  expect(Object.keys(published()).filter((file) => file.startsWith('log/'))).toEqual(['log/readme.txt']);
});

describe('--key', () => {
  beforeEach(() => sign(ONE));

  it('takes a key, or a file of keys, and refuses a log of another', async () => {
    const other = newKey('register.example', 1);
    const untrusted = [1, containing("the origin's log can't be trusted")];
    expect(await failing('--key', other.vkey)).toEqual(untrusted);
    const file = path('keys.pub');
    writeFileSync(file, `${other.vkey}\n${log.keys[0]?.vkey}\n`);
    expect(await mirrored('--key', file)).toMatchObject({ log: { signed_by: [log.keys[0]?.vkey] } });
  });

  it('refuses a key of another kind, and an origin that is not signed', async () => {
    const { vkey } = newKey('w.example', 4);
    expect(await failing('--key', vkey)).toEqual([2, containing('expected one of Ed25519')]);
    origin.members = {};
    origin.announce();
    const unsigned = 'the origin has no signed log, expected one by the given key';
    expect(await failing('--key', log.keys[0]!.vkey)).toEqual([1, containing(unsigned)]);
  });
});
