/** What test/proxy/http/limits.test.ts can't see. */
import express from 'express';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { DEFAULT_QUOTAS } from '../../../proxy/limiter/gcra.js';
import { createLimits } from '../../../proxy/limiter/limits.js';
import { listenOn } from '../support.js';

it('createLimits fails a request that has no context', async () => {
  const options = { quotas: DEFAULT_QUOTAS, clock: Date.now, maxClients: 1 };
  const app = express();
  const limits = createLimits(options);
  app.use(async (request, response) => void (await limits.take(request, response)));
  const errors: unknown[] = [];
  app.use((error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
    errors.push(error);
    response.status(500).end();
  });
  expect((await fetch(`http://127.0.0.1:${await listenOn(createServer(app))}/`)).status).toBe(500);
  expect(errors).toEqual([new Error('the request has no context')]);
});
