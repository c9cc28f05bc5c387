/** What an upload writes and deletes, and in which order, with a remote in memory. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { Dice } from '../../../../data/sample/dice.js';
import { State } from '../../../../generator/state/state.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { changeState, forgetRemotes } from '../../../support/state.js';
import { always, isThorough, it } from '../../../support/thorough.js';
import { containing } from '../../../support/values.js';
import { survive, withFault, Killed } from '../../publish/faults.js';
import { LONG, publish, type Documents, type Version } from '../../publish/small.js';
import { failureOf, sha256, temporary } from '../../publish/support.js';
import { memorySite, type MemoryRemote } from './memory.js';
import { ROUTES, membersOf, single } from './routes.js';

const path = temporary();

const version = (documents: Documents, records?: number): Version => ({
  routes: ROUTES,
  documents,
  members: membersOf(records),
});

const OLD = version({ a: { 1: 'one', 2: LONG, 3: 'three' }, b: { 1: 'one' }, page: { 0: LONG } });
const NEW = version({ a: { 1: 'another', 2: 'short', 4: LONG }, b: { 1: 'one' }, page: { 0: LONG } });

/** With one more file, which is called so. */
const withFile = (file: string, { routes, documents, ...rest }: Version): Version => ({
  ...rest,
  routes: [...routes, single('brand', file, 'page')],
  documents: { ...documents, brand: { 0: LONG } },
});
const brand = (file: string): Version => withFile(file, file === 'brand' ? NEW : OLD);

async function site(first: Version) {
  const out = path('dist');
  await publish(out, first);
  return memorySite(out);
}

/** A site whose first version is on the remote. */
async function uploaded() {
  const run = await site(OLD);
  await run.upload();
  run.calls();
  return run;
}

describe('an upload', () => {
  it('that is not recorded compares, deletes what a route leads to, and leaves the rest alone', async () => {
    const run = await uploaded();
    forgetRemotes(run.out);
    const alien = { hash: '', headers: {} };
    const left = ['a/1.json.0a1b2c3d.partial', 'changes/9.ndjson.gz.0a1b2c3d.partial'];
    const gone = ['a/7.json', 'a/8.json.gz', 'changes/9.ndjson.gz', ...left];
    for (const file of ['a/1.json', ...gone, 'a/x.json', 'robots.bak', 'robots.0a1b2c3d.partial'])
      run.remote.files.set(file, alien);
    // What `edge headers` writes for the host is nobody else's.
    const ours = ['_headers', '_redirects', 'api/404.html'];
    for (const file of ours) run.remote.files.set(file, alien);
    run.remote.files.delete('b/1/all.json');
    run.calls();
    const unknown = ['a/x.json', 'robots.0a1b2c3d.partial', 'robots.bak'];
    const result = await run.upload();
    expect(result).toMatchObject({ compared: true, deleted: gone.length, untracked: { total: 3 } });
    expect(result.untracked?.examples.toSorted()).toEqual(unknown);
    expect(run.wrong()).toHaveLength(ours.length + unknown.length);
    for (const file of [...ours, ...unknown]) expect(run.wrong()).toContain(`${file} is extra`);
    const calls = run.calls();
    expect(calls).toContain('put a/1.json');
    expect(calls).toContain('put b/1/all.json');
    expect(calls).not.toContain('put a/3.json');
    // The headers of objects are unknown, and stay as they are.
    expect(calls).not.toContain('put page.html');
    expect(result.unknownHeaders).toBeGreaterThan(0);
  });

  it('repairs what --verify finds', async () => {
    const run = await uploaded();
    const files = run.remote.files.size;
    expect(await run.verify()).toMatchObject({ missing: [], different: [], extra: [], files });
    expect((await run.upload()).compared).toBe(false);
    run.calls();
    for (const file of ['a/1.json', 'a/9.json']) run.remote.files.set(file, { hash: '', headers: {} });
    run.remote.files.delete('a/2.json');
    const found = { missing: ['a/2.json'], different: ['a/1.json'], extra: ['a/9.json'] };
    expect(await run.verify()).toMatchObject(found);
    expect((await run.upload()).compared).toBe(true);
    expect(run.calls().toSorted()).toEqual(['delete a/9.json', 'put a/1.json', 'put a/2.json']);
    expect((await run.upload()).compared).toBe(false);
  });

  it.each([
    ['a document', 'a/1.json', 'damaged!!'],
    ['the index of the changes', 'changes/index.json', undefined],
  ])('of a tree in which %s is damaged deletes what is gone all the same', async (_, file, content) => {
    const run = await uploaded();
    await publish(run.out, NEW);
    const whole = readFileSync(join(run.out, file));
    if (content === undefined) rmSync(join(run.out, file));
    else writeFileSync(join(run.out, file), content);
    run.calls();
    for (const isKnown of [true, false]) {
      if (!isKnown) forgetRemotes(run.out);
      const message = containing(`"${file}" of the tree is missing or damaged`);
      expect(await failureOf(run.upload())).toMatchObject({ exitCode: 1, message });
      expect(run.remote.files.has('a/3.json')).toBe(false);
      expect(run.remote.files.has(file)).toBe(true);
      run.remote.files.set('a/3.json', { hash: '', headers: {} });
    }
    expect(run.calls().filter((call) => call.startsWith('put'))).toEqual([]);
    writeFileSync(join(run.out, file), whole);
    await run.sync();
  });

  it('deletes a document whose route is gone, unless another route has its file', async () => {
    const run = await uploaded();
    const others = ROUTES.filter(({ name }) => !['a', 'a-page'].includes(name));
    const routes = [single('one', 'a/1.json', 'record'), ...others];
    const documents = { one: { 0: 'one' }, b: { 1: 'one' }, page: { 0: 'page' } };
    await publish(run.out, { ...NEW, routes, documents });
    await run.sync();
    expect([...run.remote.files.keys()].filter((file) => file.startsWith('a/'))).toEqual(['a/1.json']);
    using state = State.read(new Tree(run.out).database);
    // docs/takedowns.md says how the row is named.
    const known = state?.remote(sha256('memory:bucket').slice(0, 16)) ?? '';
    const { sent } = z.looseObject({ sent: z.record(z.string(), z.string()) }).parse(JSON.parse(known));
    expect(Object.keys(sent).filter((name) => name.startsWith('a/'))).toEqual(['a/1.json']);
    await publish(run.out, OLD);
    await run.sync();
  });
});

describe('an upload after several commits', () => {
  it('writes and deletes what all of them changed, and compares if one is not known', async () => {
    const run = await uploaded();
    await publish(run.out, version({ a: { 1: 'x', 5: LONG }, b: {}, page: { 0: LONG } }));
    await publish(run.out, brand('brand'));
    expect(await run.sync()).toMatchObject({ compared: false });
    await publish(run.out, OLD);
    await publish(run.out, NEW);
    changeState(run.out, 'DELETE FROM snapshot WHERE number = 4');
    expect(await run.sync()).toMatchObject({ compared: true });
  });

  it('compares where the state was damaged, and deletes what it sent earlier', async () => {
    const run = await site(brand('brand'));
    await run.upload();
    await publish(run.out, OLD);
    changeState(run.out, 'DELETE FROM chunk');
    expect(await run.sync()).toMatchObject({ compared: true });
    expect(await run.upload()).toMatchObject({ compared: false });
  });

  it('deletes what is withheld, although one was interrupted and nothing can be written', async () => {
    const run = await uploaded();
    await publish(run.out, version({ a: { 1: 'x', 2: LONG, 3: 'three', 5: LONG }, page: { 0: LONG } }));
    run.remote.lives = 2;
    await survive(run.upload());
    run.remote.lives = Number.POSITIVE_INFINITY;
    await publish(run.out, {
      ...version({ a: { 1: 'y', 3: 'z' }, page: { 0: LONG } }),
      withheld: { a: [2, 5] },
    });
    const others = ['changes/index.json', 'snapshot.json', 'feeds/snapshots.json'];
    run.remote.refused = ['a/1.json', 'a/3.json', ...others];
    expect((await failureOf(run.upload())).exitCode).toBe(3);
    expect([...run.remote.files.keys()].filter((file) => /^a\/[25]|^changes\/2/.test(file))).toEqual([]);
    run.remote.refused = [];
    expect(await run.sync()).toMatchObject({ compared: false });
  });
});

describe('uploads that are killed', () => {
  it('at any call that changes the disk never lose what they know of the remote', async () => {
    const run = await uploaded();
    let isDone = false;
    for (let last = 1; !isDone; last += 1) {
      await publish(run.out, last % 2 === 0 ? OLD : NEW);
      let calls = 0;
      await withFault(
        ({ number, path: file }) => {
          calls = number;
          return number >= last && !file.endsWith('lock.pid') ? new Killed('dead') : undefined;
        },
        () => survive(run.upload()),
      );
      isDone = calls < last;
      expect(await run.upload(), `dead from call ${last}`).toMatchObject({ compared: false });
      expect(run.wrong(), `dead from call ${last}`).toEqual([]);
      expect(await run.upload()).toMatchObject({ compared: false, written: 0, deleted: 0 });
    }
  });

  always('at any point and any number of times lead to the tree all the same', async () => {
    const ROUNDS = 10;
    let kills = 0;
    for (let seed = 1; seed <= (isThorough ? 15 : 5); seed += 1) {
      const dice = new Dice(20261201, 'upload', seed);
      let lifetimeOfRecords = '';
      const any = (): Version => {
        const records = 300 + dice.below(2);
        lifetimeOfRecords = `max-age=${records}`;
        const page = { 0: dice.below(2) === 0 ? 'page' : LONG };
        const one = version({ a: texts(dice, 8), b: texts(dice, 4), page }, records);
        const file = ['', 'brand', 'brand/logo.svg', 'brand/x/logo.svg'][dice.below(4)] ?? '';
        return file === '' ? one : withFile(file, one);
      };
      const run = await site(any());
      for (let round = 1; round <= ROUNDS; round += 1) {
        const isLast = round === ROUNDS;
        run.remote.lives = dice.below(3) === 0 && !isLast ? dice.below(20) : Number.POSITIVE_INFINITY;
        const deadFrom = dice.below(2) === 0 && !isLast ? 1 + dice.below(20) : Number.POSITIVE_INFINITY;
        let died = false;
        await withFault(
          ({ number, path: file }) => {
            died ||= run.remote.isDead || number >= deadFrom;
            return died && !file.endsWith('lock.pid') ? new Killed('dead') : undefined;
          },
          () => survive(run.upload()),
        );
        if (died) kills += 1;
        const wrong = died ? [] : [...run.wrong(), ...withAnotherLifetime(run.remote, lifetimeOfRecords)];
        expect(wrong, `seed ${seed}, round ${round}`).toEqual([]);
        if (dice.below(4) === 0) await tamper(dice, run.remote, run.verify);
        if (dice.below(2) === 0) await publish(run.out, any());
      }
    }
    expect(kills).toBeGreaterThan(isThorough ? 40 : 10);
  });
});

/** Some documents of a route, of few contents, so that many go back to a former one. */
function texts(dice: Dice, most: number): Record<number, string> {
  const all: Record<number, string> = {};
  for (let key = 1; key <= most; key += 1)
    if (dice.below(4) > 0) all[key] = ['x', 'y', LONG, `${LONG}!`][dice.below(4)] ?? '';
  return all;
}

/** The objects of records with another lifetime. */
const withAnotherLifetime = ({ files }: MemoryRemote, lifetime: string): string[] =>
  [...files.keys()].filter(
    (file) => /^[ab]\//.test(file) && files.get(file)?.headers['Cache-Control'] !== lifetime,
  );

/** Damages one file of a remote, and notices it. */
async function tamper(dice: Dice, remote: MemoryRemote, verify: () => Promise<unknown>): Promise<void> {
  const files = [...remote.files.keys()].toSorted();
  const file = files[dice.below(files.length || 1)] ?? 'a/1.json';
  const stored = remote.files.get(file);
  if (stored === undefined) return;
  if (dice.below(2) === 0) remote.files.delete(file);
  else remote.files.set(file, { ...stored, hash: 'damaged' });
  await verify();
}
