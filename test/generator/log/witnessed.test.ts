/** Builds and rollbacks that witnesses cosign, by the command and over HTTP. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createKey } from '../../../generator/log/key-file.js';
import { OPERATOR } from '../../support/build.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { ROWS, inProcess, temporary } from '../publish/support.js';
import { logFolder } from '../upload/log.js';
import { Witness, publicKeyOf } from './witness-server.js';

const path = temporary();
let [register, out, key] = ['', '', ''];
let witnesses: readonly Witness[] = [];

beforeEach(async () => {
  [register, out, key] = [path('register.sqlite'), path('dist'), path('key')];
  writeRegister(register, ROWS);
  const log = publicKeyOf(createKey('register.example', key));
  witnesses = [await new Witness(log).start(0), await new Witness(log).start(0)];
});
afterEach(async () => {
  for (const witness of witnesses) await witness.stop();
});

const signing = () => [
  '--key',
  key,
  ...witnesses.flatMap((witness) => ['--witness', `${witness.url} ${witness.key.vkey}`]),
];
async function build(price?: number): Promise<string> {
  if (price !== undefined) changeRegister(register, `UPDATE items SET price = ${price} WHERE id = 3`);
  const args = ['--register', register, '--out', out, '--operator', OPERATOR, '--quiet'];
  const { code, stderr } = await inProcess('build', ...args, ...signing());
  expect(code).toBe(0);
  return stderr;
}

const note = (): string => readFileSync(join(out, logFolder(out), 'checkpoint'), 'utf8');
/** The URLs of the witnesses that have cosigned the checkpoint. */
const cosignatures = (): string[] => {
  const [text = '', lines = ''] = note().split('\n\n');
  return witnesses.flatMap((witness) => {
    const line = witness.key.cosignature(`${text}\n`, witness.time);
    return lines.includes(line.trim()) ? [witness.url] : [];
  });
};
const urls = (): string[] => witnesses.map(({ url }) => url);
/** The old sizes with which a witness was asked since the last time, and its statuses. */
const asked = (at: number) => witnesses[at]?.asked.splice(0);

it('each checkpoint has the cosignatures of all witnesses, at one request each', async () => {
  for (const [at, price] of [11, 12, 13].entries()) {
    expect(await build(price)).toBe('');
    expect(cosignatures()).toEqual(urls());
    expect([asked(0), asked(1)]).toEqual([[[at, 200]], [[at, 200]]]);
  }
  const { code, stderr } = await inProcess('rollback', '--out', out, '--quiet', ...signing());
  expect([code, stderr]).toEqual([0, '']);
  expect(cosignatures()).toEqual(urls());
  expect(asked(0)).toEqual([[3, 200]]);
  await build();
  asked(0);
  // One that changes nothing asks nobody.
  await build();
  expect(asked(0)).toEqual([]);
});

it('a witness that is down is a warning, and is asked again by the next build', async () => {
  const [, second] = witnesses;
  let isDown = true;
  if (second !== undefined) {
    second.instead = (_request, response) => {
      if (isDown) response.writeHead(503).end('later');
      return isDown;
    };
  }
  const warning = `witness ${second?.url} has not cosigned: its response is 503, expected 200: "later"\n`;
  expect(await build(11)).toBe(warning);
  expect(await build(12)).toBe(warning);
  expect(cosignatures()).toEqual(urls().slice(0, 1));
  expect(asked(0)).toEqual([
    [0, 200],
    [1, 200],
  ]);
  isDown = false;
  // Nothing changed, so the same checkpoint gets what it lacks.
  expect(await build()).toBe('');
  expect(cosignatures()).toEqual(urls());
  expect([asked(0), asked(1)]).toEqual([[], [[0, 200]]]);
  isDown = true;
  await build(13);
  await build(14);
  isDown = false;
  await build(15);
  expect(cosignatures()).toEqual(urls());
  // It is known to have cosigned the second, but not of the checkpoints after that.
  expect(asked(1)).toEqual([
    [0, 409],
    [2, 200],
  ]);
});

it('witnesses refuse a log that was begun again under the same name', async () => {
  await build(11);
  await build(12);
  for (const witness of witnesses) witness.seen.set('register.example', { size: 9, root: Buffer.alloc(32) });
  const stderr = await build(13);
  for (const url of urls())
    expect(stderr).toContain(
      `witness ${url} has not cosigned: it has cosigned a log of 9 entries, and this one has 3\n`,
    );
  expect(cosignatures()).toEqual([]);
});
