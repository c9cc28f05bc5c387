/** The typed client in a browser, which has neither Node's modules nor its gunzip. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT, temporary } from '../support/folder.js';
import { listenOn } from '../support/ports.js';
import { startProxy, type RunningProxy } from '../support/proxy.js';
import { indexOf } from '../support/published.js';
import { writeRegister } from '../support/register.js';
import { Site } from '../support/site.js';
import { browsing, inChromium } from '../system/pages/browser.js';

const path = temporary();
const groups = [{ id: 7, name: 'seven' }, { id: 8 }];
const site = new Site(writeRegister(path('register'), { groups }), path('dist'));
let proxy: RunningProxy;

const open = browsing(async () => {
  await site.build();
  return (proxy = await startProxy(site.out));
});

const SCRIPT = `async ([base, position]) => {
  const { RegisterClient } = await import('/client.js');
  const { changesSince } = await import('/changes.js');
  const client = new RegisterClient(base);
  const names = [];
  for (let times = 0; times < 3; times += 1)
    names.push((await client.get('/api/v1/group/{id}', { id: 7 })).name);
  const error = await client.get('/api/v1/group/{id}', { id: 9 }).catch(({ code }) => code);
  const changes = {};
  for await (const { kind, path } of changesSince(client, position)) changes[kind + ' ' + path] = 1;
  return { names, error, changes };
}`;

inChromium('the typed client', () => {
  it('reads documents, errors and bundles of another origin', async () => {
    const { tree, sequence, digest } = indexOf(site.out);
    await site.build(`UPDATE groups SET name = 'sept' WHERE id = 7; DELETE FROM groups WHERE id = 8`);
    await expect.poll(async () => (await proxy.get('/api/v1/group/8')).status).toBe(404);
    const elsewhere = createServer(({ url = '' }, response) => {
      const isScript = url.endsWith('.js');
      response
        .setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
        .end(isScript ? readFileSync(join(PROJECT, 'build/clients/typescript', url)) : '');
    });
    const { page } = await open('/', { base: `http://127.0.0.1:${await listenOn(elsewhere)}` });
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    const requested: string[] = [];
    network.on('Network.responseReceived', ({ response: { url, fromDiskCache } }) => {
      if (fromDiskCache !== true) requested.push(new URL(url).pathname);
    });
    const argument = JSON.stringify([proxy.base, { tree, sequence, digest }]);
    expect(await page.evaluate(`(${SCRIPT})(${argument})`)).toMatchObject({
      names: ['sept', 'sept', 'sept'],
      error: 'not_found',
      changes: { 'put /api/v1/group/7': 1, 'deleted /api/v1/group/8': 1, 'reached undefined': 1 },
    });
    // Within its lifetime, the browser's cache answers.
    expect(requested.filter((each) => each === '/api/v1/group/7')).toHaveLength(1);
  });
});
