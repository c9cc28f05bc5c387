/** The typed client in a browser, which has neither Node's modules nor its gunzip. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { published } from '../support/build.js';
import { PROJECT, temporary } from '../support/folder.js';
import { CHROMIUM, has } from '../support/programs.js';
import { listenOn } from '../support/ports.js';
import { startProxy } from '../support/proxy.js';
import { indexOf } from '../support/published.js';
import { changeRegister, writeRegister } from '../support/register.js';

const HAS_CHROMIUM = has('the typed client in a browser', 'chromium');
const path = temporary();

/** What the page runs, with the address of the service and a position. */
const SCRIPT = `async ([base, position]) => {
  const { RegisterClient } = await import('/client.js');
  const { changesSince } = await import('/changes.js');
  const client = new RegisterClient(base);
  const names = [];
  for (let times = 0; times < 3; times += 1)
    names.push((await client.get('/api/v1/group/{id}', { id: 7 })).name);
  const error = await client.get('/api/v1/group/{id}', { id: 9 }).catch(({ code }) => code);
  const changes = [];
  for await (const { kind, path } of changesSince(client, position)) changes.push(kind + ' ' + path);
  return { names, error, changes };
}`;

const seen = z.object({ names: z.array(z.string()), error: z.string(), changes: z.array(z.string()) });

it.skipIf(!HAS_CHROMIUM)(
  'the typed client reads documents, errors and bundles of another origin',
  async () => {
    const register = writeRegister(path('register'), { groups: [{ id: 7, name: 'seven' }, { id: 8 }] });
    const out = path('dist');
    await published({ register, out });
    const { tree, sequence, digest } = indexOf(out);
    changeRegister(register, `UPDATE groups SET name = 'sept' WHERE id = 7; DELETE FROM groups WHERE id = 8`);
    await published({ register, out, acceptRemovals: true });
    const proxy = await startProxy(out);
    const site = createServer(({ url = '' }, response) => {
      const isScript = url.endsWith('.js');
      response
        .setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
        .end(isScript ? readFileSync(join(PROJECT, 'build/clients/typescript', url)) : '');
    });
    const port = await listenOn(site);
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    onTestFinished(async () => {
      await browser.close();
      await proxy.stop();
    });
    const page = await browser.newPage();
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    const requested: string[] = [];
    network.on('Network.responseReceived', ({ response: { url, fromDiskCache } }) => {
      if (fromDiskCache !== true) requested.push(new URL(url).pathname);
    });
    await page.goto(`http://127.0.0.1:${port}/`);
    const argument = JSON.stringify([proxy.base, { tree, sequence, digest }]);
    const { names, error, changes } = seen.parse(await page.evaluate(`(${SCRIPT})(${argument})`));
    expect(names).toEqual(['sept', 'sept', 'sept']);
    // Within its lifetime, the browser's cache answers.
    expect(requested.filter((path) => path === '/api/v1/group/7')).toHaveLength(1);
    expect(error).toBe('not_found');
    expect(changes).toContain('put /api/v1/group/7');
    expect(changes).toContain('deleted /api/v1/group/8');
    expect(changes.at(-1)).toMatch(/^reached/);
  },
);
