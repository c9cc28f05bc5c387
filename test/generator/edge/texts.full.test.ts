/** Texts and limits of operators in the configurations, read by the programs themselves. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeSample } from '../../../data/sample.js';
import { nginxConfiguration } from '../../../generator/edge/nginx.js';
import { readPublished } from '../../../generator/edge/published.js';
import type { Snapshot } from '../../../generator/tree/snapshot-json.js';
import { Tree } from '../../../generator/tree/tree.js';
import { sender } from '../../system/contract/cases.js';
import { serve } from '../../system/contract/servers.js';
import { buildArgs, snapshot } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { has } from '../../support/programs.js';
import { freePort } from '../../support/ports.js';

const path = temporary();
const out = path('a "tree" $of {mine};');

beforeAll(async () => {
  const register = path('register.sqlite');
  await writeSample({ file: register, records: 50, seed: 3 });
  const { code, stderr } = await snapshot(buildArgs(register, out));
  if (code !== 0) throw new Error(stderr);
});

/** Header values and titles that would end a string, or become a variable. */
const NASTY = [`a"b'c`, `\\d$host\${e}`, `;}#`, `{"x"}`, `"`, '$', '\\'];

function nasty(): Snapshot {
  const published = readPublished(new Tree(out));
  const all = Object.fromEntries(NASTY.map((value, index) => [`X-Nasty-${index}`, value]));
  const errors = Object.fromEntries(
    Object.entries(published.errors).map(([code, error]) => [code, { ...error, title: NASTY.join(' ') }]),
  );
  return { ...published, errors, headers: { ...published.headers, all } };
}

describe.runIf(has('texts of operators in nginx', 'nginx'))('nginx', () => {
  it('sends any header and title as it is, from a folder of any name', async () => {
    const port = await freePort();
    const file = path('nasty.conf');
    const folder = path('nasty');
    mkdirSync(folder);
    const options = { out, file, listen: `127.0.0.1:${port}`, trusted: [] };
    writeFileSync(file, nginxConfiguration(nasty(), options).text);
    const { base, stop } = await serve(port, folder, file);
    const send = sender(base);
    const found = await send('/api/v1');
    const missing = await send('/nothing');
    await stop();
    expect(found.status).toBe(200);
    for (const [index, value] of NASTY.entries()) expect(found.headers[`x-nasty-${index}`]).toBe(value);
    expect(JSON.parse(missing.body.toString())).toMatchObject({ status: 404, title: NASTY.join(' ') });
  });

  it.each([1, 2, 1_000_000])('reads limits of %d tokens', (tokens) => {
    const published = readPublished(new Tree(out));
    const limit = { tokens, refill_seconds: 1 };
    const limits = { api: limit, download: limit, page: limit };
    const file = path(`tokens-${tokens}.conf`);
    const options = { out, file, listen: '127.0.0.1:80', trusted: ['10.0.0.0/8', '2001:db8::/32'] };
    writeFileSync(file, nginxConfiguration({ ...published, limits }, options).text);
    const folder = path(`tokens-${tokens}`);
    mkdirSync(folder);
    const { status, stderr } = spawnSync('nginx', ['-t', '-e', 'stderr', '-p', folder, '-c', file], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, expect.stringContaining('syntax is ok')]);
  });
});
