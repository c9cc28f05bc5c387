import express from 'express';
import { createServer, IncomingMessage, ServerResponse, type RequestListener, type Server } from 'node:http';
import { describe, expect, it } from 'vitest';

import { createMessageClasses } from '../../../proxy/http/messages.js';
import { ask, listenOn, startProxy, tree } from '../support.js';

/** Calls back with the prototypes of each request and response, before Express sees them and at their end. */
function observePrototypes(server: Server, report: (kept: readonly boolean[]) => void): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const before = [request, response].map((message): unknown => Object.getPrototypeOf(message));
    response.once('close', () => {
      report([request, response].map((message, index) => Object.getPrototypeOf(message) === before[index]));
    });
  });
}

describe('createMessageClasses', () => {
  it('has Express leave request and response their prototypes, on this version of Node', async () => {
    const { server, ask: askProxy } = await startProxy(await tree());
    const seen: (readonly boolean[])[] = [];
    observePrototypes(server, (kept) => seen.push(kept));
    for (const target of ['/api/v1/group/7', '/downloads/groups.csv', '/nothing', '/api/v1/'])
      await askProxy(target);
    await expect.poll(() => seen.length).toBe(4);
    expect(seen).toEqual(Array.from({ length: 4 }, () => [true, true]));
  });

  it('is there because Express changes those of others', async () => {
    const app = express();
    app.use((_request, response) => void response.end());
    const server = createServer(app);
    const seen: (readonly boolean[])[] = [];
    observePrototypes(server, (kept) => seen.push(kept));
    await ask(await listenOn(server), '/');
    await expect.poll(() => seen).toEqual([[false, false]]);
  });

  it('makes messages that are the same to Express as its own: the way back to the app, and what it adds', async () => {
    const { server, ask: askProxy } = await startProxy(await tree());
    const seen: unknown[] = [];
    const observe: RequestListener = (request, response) => {
      seen.push(typeof Reflect.get(request, 'app'), typeof Reflect.get(response, 'send'));
      seen.push(Reflect.get(request, 'ip'), Reflect.get(request, 'hostname'));
      seen.push(request instanceof IncomingMessage, response instanceof ServerResponse);
    };
    server.on('request', observe);
    await askProxy('/api/v1/group/7', { headers: { Host: 'api.example' } });
    expect(seen).toEqual(['function', 'function', '127.0.0.1', 'api.example', true, true]);
  });

  it('makes them for one app each', () => {
    const [one, two] = [createMessageClasses(express()), createMessageClasses(express())];
    expect(one.IncomingMessage).not.toBe(two.IncomingMessage);
    expect(Reflect.get(one.IncomingMessage.prototype, 'app')).not.toBe(
      Reflect.get(two.IncomingMessage.prototype, 'app'),
    );
  });
});
