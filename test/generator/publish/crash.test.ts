/**
 * A build that dies before any call that changes the disk, or whose disk is full from there on. What a death leaves
 * is what lies there at that moment: an image of it is taken, and the next build goes on from that.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { completeCommit } from '../../../generator/publish/commit.js';
import { Tree } from '../../../generator/tree/tree.js';
import { quiet } from '../../support/build.js';
import { writeOperator } from '../../support/operator.js';
import { changeRegister } from '../../support/register.js';
import { pair, buildWith } from '../../support/site.js';
import { loseState } from '../../support/state.js';
import { always, isThorough, some, thorough } from '../../support/thorough.js';
import { differing, inState } from '../../support/tree.js';
import { matching } from '../../support/values.js';
import {
  SWEEP,
  callsOf,
  deadFrom,
  fullFrom,
  lowerLayer,
  survive,
  withFault,
  type Call,
  type Fault,
} from './faults.js';
import { temporary } from '../../support/folder.js';
import { contentOf, hashesOf, stateOf } from '../../support/published.js';
import { expectTree, isCommitting } from './support.js';

const path = temporary();

// As they are without faults.
const { existsSync, linkSync, mkdirSync, readdirSync, rmSync } = fs;

/** Links each file of a folder at the same path of another: no build writes into a file that is there. */
function linkAll(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkAll(source, target);
    else linkSync(source, target);
  }
}

/** An image of a tree and its state, in a folder of their own. */
function imageOf(out: string): string {
  const image = join(path('image'), 'dist');
  mkdirSync(join(image, '..'));
  for (const [from, to] of [
    [out, image],
    [inState(out), inState(image)],
  ] as const)
    if (existsSync(from)) linkAll(from, to);
  return image;
}

type Build = (out: string) => Promise<unknown>;

interface Start {
  readonly out: string;
  readonly next: Build;
}

/** A tree whose next build removes, withholds and moves: also a file into the place of a folder, and the reverse. */
async function eventful(): Promise<Start> {
  const { registers, tree } = await pair(path);
  const out = tree();
  const operatorOf = (files: Record<string, string>) =>
    writeOperator(path('operator'), { files: 'site' }, files);
  const first = operatorOf({ 'one.html': 'a file', 'two.html/index.txt': 'in a folder', 'gone.txt': 'x' });
  const second = operatorOf({ 'one.html/index.txt': 'in a folder', 'two.html': 'a file' });
  await buildWith({ register: registers[0], out, operator: first });
  changeRegister(registers[1], `INSERT INTO withheld VALUES ('group', 9, '2026-12-01T00:00:00Z')`);
  return { out, next: (each) => buildWith({ register: registers[1], out: each, operator: second }) };
}

interface Scenario {
  readonly title: string;
  readonly begin: () => Promise<Start>;
  readonly faultOf?: (out: string) => Fault;
}

const SCENARIOS: readonly Scenario[] = [
  { title: 'a snapshot that withholds and moves', begin: eventful },
  {
    title: 'a first snapshot',
    begin: async () => {
      const { registers } = await pair(path);
      const out = join(path('first'), 'dist');
      mkdirSync(join(out, '..'));
      return { out, next: (each) => buildWith({ register: registers[1], out: each }) };
    },
  },
  {
    title: 'a snapshot after the state was lost, over the lower layer of an overlay',
    begin: async () => {
      const start = await eventful();
      loseState(start.out);
      return start;
    },
    faultOf: (out) => lowerLayer(join(out, '..')),
  },
];

/** So many from the first to the last. */
const spread = <T>(all: readonly T[], count: number): readonly T[] =>
  all.filter((_, at) => Math.floor((at * count) / all.length) < Math.floor(((at + 1) * count) / all.length));

/** What is published, and what is known of it. */
const allOf = (out: string): Record<string, string> => ({
  ...hashesOf(out),
  ...Object.fromEntries(
    Object.entries(hashesOf(inState(out)))
      .filter(([file]) => file.startsWith('lists/') || file === 'state.json')
      .map(([file, sum]) => [`state: ${file}`, sum]),
  ),
});

/** What is published, with inodes and times: the same only if nobody touched it. */
function published(out: string): Record<string, string> {
  const { '.probe': _, ...files } = stateOf(out);
  return files;
}

const complete: Build = (out) => completeCommit(new Tree(out), quiet(), () => undefined);

/** Calls after which something else is to be done. */
const isTurn = ({ path: file }: Call) => /-state\/(stage|lists|commit|commit\/\w+(\.json)?)$/.test(file);

/** Does work where the faults of a scenario are. */
const within = ({ faultOf }: Scenario, out: string, work: Build): Promise<unknown> =>
  faultOf === undefined ? work(out) : withFault(faultOf(out), () => work(out));

always.each(some(SCENARIOS, 1))('$title is published, wherever one died', SWEEP, async (scenario) => {
  const { out: start, next } = await scenario.begin();
  const calls = await callsOf(() => within(scenario, imageOf(start), next));
  const past = calls.slice(calls.findIndex(({ path: file }) => file.endsWith('-state/stage')));
  const chosen = [
    ...spread(calls.filter(isTurn), isThorough ? 15 : 3),
    ...spread(calls, isThorough ? 6 : 1),
    ...spread(past, isThorough ? 12 : 0),
  ];
  const numbers = new Set(chosen.map(({ number }) => number));
  const out = imageOf(start);
  const fault = scenario.faultOf?.(out);
  const images: { readonly image: string; readonly call: Call; readonly isPast: boolean }[] = [];
  let isPast = false;
  const before = published(out);
  await withFault(
    (call) => {
      isPast ||= isCommitting(out);
      if (!isPast && (isTurn(call) || call.number % (isThorough ? 20 : 200) === 0))
        expect(differing(published(out), before), `before call ${call.number}`).toEqual([]);
      if (numbers.has(call.number)) images.push({ image: imageOf(out), call, isPast });
      return fault?.(call);
    },
    () => next(out),
  );
  const [wanted, content] = [allOf(out), contentOf(out)];
  for (const [at, { image, call, isPast: isPublished }] of images.entries()) {
    const where = `dead before ${call.number} of ${calls.length}, ${call.name} ${call.path}`;
    const act = isPublished ? complete : next;
    const dead = deadFrom(1 + ((call.number * 7) % (isPublished ? 60 : calls.length)));
    await survive(within(scenario, image, (each) => withFault(dead, () => act(each))));
    // In a place of its own: a process that has ended holds no lock.
    const again = imageOf(image);
    await within(scenario, again, act);
    if (isPublished) expect(differing(allOf(again), wanted), where).toEqual([]);
    // What is published already needs no more than a look.
    if (!isPublished || at % 5 === 0) {
      await within(scenario, again, next);
      await expectTree(again, content, where);
    }
    for (const each of [image, again]) rmSync(join(each, '..'), { recursive: true });
  }
  // Builds may differ by a call or two.
  expect(images.length).toBeGreaterThan(numbers.size - 3);
});

thorough.each(SCENARIOS.slice(0, 2))('$title where the disk is full', SWEEP, async ({ begin }) => {
  const { out, next } = await begin();
  const whole = imageOf(out);
  const calls = await callsOf(() => next(whole));
  const wanted = contentOf(whole);
  const growing = calls.filter(({ grows }) => grows);
  let refused = 0;
  for (const { number, name, path: file } of spread(growing, 16)) {
    const where = `full from ${number}, ${name} ${file}`;
    const image = imageOf(out);
    const before = stateOf(image);
    const error: unknown = await withFault(fullFrom(number), () => next(image)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error !== undefined) {
      refused += 1;
      const note = isCommitting(image) ? '.*the next build.*completes it' : '';
      const message = matching(new RegExp(`the disk is full${note}`));
      expect(error, where).toMatchObject({ exitCode: 3, message });
      if (!isCommitting(image)) expect(differing(stateOf(image), before), where).toEqual([]);
    }
    await next(image);
    await expectTree(image, wanted, where);
  }
  expect(refused).toBeGreaterThan(2);
});
