import express from 'express';
import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import { expect, it } from 'vitest';

import { createMessageClasses } from '../../../proxy/http/messages.js';
import { ask, listenOn, startProxy, tree } from '../support.js';

/** Whether each request and response has at its end the prototype that it had before Express saw it. */
function observePrototypes(server: Server): boolean[] {
  const seen: boolean[] = [];
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const before = [request, response].map((message): unknown => Object.getPrototypeOf(message));
    response.once('close', () => {
      seen.push(...[request, response].map((each, index) => Object.getPrototypeOf(each) === before[index]));
    });
  });
  return seen;
}

it('Express leaves request and response their prototypes, which have the way back to the app', async () => {
  const { server, ask: askProxy } = await startProxy(await tree());
  const [kept, found] = [observePrototypes(server), new Set<unknown>()];
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    found.add(typeof Reflect.get(request, 'app')).add(typeof Reflect.get(response, 'send'));
    found.add(Reflect.get(request, 'ip')).add(Reflect.get(request, 'hostname'));
    found.add(request instanceof IncomingMessage && response instanceof ServerResponse);
  });
  for (const target of ['/api/v1/group/7', '/downloads/groups.csv', '/nothing', '/api/v1/'])
    await askProxy(target, { headers: { Host: 'api.example' } });
  await expect.poll(() => kept).toEqual(Array.from({ length: 8 }, () => true));
  expect([...found]).toEqual(['function', '127.0.0.1', 'api.example', true]);
  const classes = [express(), express()].map((app) => createMessageClasses(app).IncomingMessage.prototype);
  expect(Reflect.get(classes[0]!, 'app')).not.toBe(Reflect.get(classes[1]!, 'app'));
});

it('Express changes those of others', async () => {
  const app = express();
  app.use((_request, response) => void response.end());
  const server = createServer(app);
  const kept = observePrototypes(server);
  await ask(await listenOn(server), '/');
  await expect.poll(() => kept).toEqual([false, false]);
});
