/** Builds and rollbacks that witnesses cosign, by the command and over HTTP. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inProcess, temporary } from '../publish/support.js';
import { publicKeyOf } from './naive.js';
import { newSite } from './site.js';
import type { Site } from './site.js';
import { Witness } from './witness-server.js';

const path = temporary();
let site: Site;
let witnesses: readonly [Witness, Witness];

beforeEach(async () => {
  site = newSite(path);
  const log = publicKeyOf(site.vkey);
  witnesses = [await new Witness(log).start(), await new Witness(log).start()];
});
afterEach(async () => {
  for (const witness of witnesses) await witness.stop();
});

const signing = () => [
  '--key',
  site.key,
  ...witnesses.flatMap(({ url, key }) => ['--witness', `${url} ${key.vkey}`]),
];
async function build(price?: number): Promise<string> {
  if (price !== undefined) site.change(`UPDATE items SET price = ${price} WHERE id = 3`);
  const { code, stderr } = await site.run('build', ...signing());
  expect(code).toBe(0);
  return stderr;
}

/** Which witnesses have cosigned the checkpoint. */
const cosigned = (): boolean[] => {
  const [text = '', lines = ''] = readFileSync(join(site.log, 'checkpoint'), 'utf8').split('\n\n');
  return witnesses.map(({ key, time }) => lines.includes(key.cosignature(`${text}\n`, time).trim()));
};
/** The old sizes with which a witness was asked since the last time, and its statuses. */
const asked = (at: number) => witnesses[at]?.asked.splice(0).map(String);

it('each checkpoint has the cosignatures of all witnesses, at one request each', async () => {
  for (const [at, price] of [11, 12, 13].entries()) {
    expect(await build(price)).toBe('');
    expect(cosigned()).toEqual([true, true]);
    expect([asked(0), asked(1)]).toEqual([[`${at},200`], [`${at},200`]]);
  }
  const rollback = await inProcess('rollback', '--out', site.out, '--quiet', ...signing());
  expect(rollback).toMatchObject({ code: 0, stderr: '' });
  expect(cosigned()).toEqual([true, true]);
  expect(asked(0)).toEqual(['3,200']);
  await build();
  asked(0);
  // One that changes nothing asks nobody.
  await build();
  expect(asked(0)).toEqual([]);
});

it('a witness that is down is a warning, and is asked again by the next build', async () => {
  const [, second] = witnesses;
  let isDown = true;
  second.instead = (_request, response) => {
    if (isDown) response.writeHead(503).end('later');
    return isDown;
  };
  const warning = `witness ${second.url} has not cosigned: its response is 503, expected 200: "later"\n`;
  expect(await build(11)).toBe(warning);
  expect(await build(12)).toBe(warning);
  expect(cosigned()).toEqual([true, false]);
  expect(asked(0)).toEqual(['0,200', '1,200']);
  isDown = false;
  // Nothing changed, so the same checkpoint gets what it lacks.
  expect(await build()).toBe('');
  expect(cosigned()).toEqual([true, true]);
  expect([asked(0), asked(1)]).toEqual([[], ['0,200']]);
  isDown = true;
  await build(13);
  await build(14);
  isDown = false;
  await build(15);
  expect(cosigned()).toEqual([true, true]);
  // It is known to have cosigned the second, but not of the checkpoints after that.
  expect(asked(1)).toEqual(['0,409', '2,200']);
});
