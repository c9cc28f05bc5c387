import { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';

import { startProxy, tree } from '../support.js';

it('Express leaves request and response their prototypes, which have the way back to the app', async () => {
  const { server, ask } = await startProxy(await tree());
  const [kept, found] = [[] as boolean[], new Set<unknown>()];
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const messages = [request, response];
    const before = messages.map((each): unknown => Object.getPrototypeOf(each));
    response.once('close', () => {
      kept.push(...messages.map((each, index) => Object.getPrototypeOf(each) === before[index]));
    });
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    found.add(typeof Reflect.get(request, 'app')).add(typeof Reflect.get(response, 'send'));
    found.add(Reflect.get(request, 'ip')).add(Reflect.get(request, 'hostname'));
    found.add(request instanceof IncomingMessage && response instanceof ServerResponse);
  });
  for (const target of ['/api/v1/group/7', '/downloads/groups.csv', '/nothing', '/api/v1/'])
    await ask(target, { headers: { Host: 'api.example' } });
  await expect.poll(() => kept).toEqual(Array.from({ length: 8 }, () => true));
  expect([...found]).toEqual(['function', '127.0.0.1', 'api.example', true]);
});
