import { createServer, IncomingMessage, type RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';

import { createApp, type App } from '../../proxy/app.js';
import { resolveConfig } from '../../proxy/config.js';
import { SnapshotFollower } from '../../proxy/follower.js';
import { createHttpServer } from '../../proxy/server.js';
import { ask, tree } from './support.js';

async function makeApp(): Promise<{ app: App; log: string[] }> {
  const root = await tree();
  const log: string[] = [];
  const effects = { clock: () => Date.UTC(2100, 0, 1), log: (line: string) => void log.push(line) };
  const follower = new SnapshotFollower(root, effects);
  await follower.start();
  log.length = 0;
  return { app: createApp(resolveConfig({ dist: root }, {}), follower, effects), log };
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

describe('guardPrototypes', () => {
  it('finds that Express changes no prototype, on this version of Node', async () => {
    const { app, log } = await makeApp();
    const port = await listen(createHttpServer(app).server);
    expect(app.keepsPrototypes()).toBeUndefined();
    const answer = await ask(port, '/api/v1/group/7');
    expect([answer.status, app.keepsPrototypes(), log]).toEqual([200, true, []]);
  });

  it('says once that it does, where the classes are not used, and answers are the same', async () => {
    const { app, log } = await makeApp();
    const port = await listen(createServer(app.listener));
    const kept = await listen(createHttpServer((await makeApp()).app).server);
    for (const target of ['/api/v1/group/7', '/api/v1/group/7', '/nothing']) {
      const [slow, fast] = [await ask(port, target), await ask(kept, target)];
      expect([slow.status, slow.text, slow.names]).toEqual([fast.status, fast.text, fast.names]);
    }
    expect(app.keepsPrototypes()).toBe(false);
    expect(log).toEqual([expect.stringContaining('Express gives each request another prototype')]);
  });

  it('finds that only one of the two is kept', async () => {
    const { app, log } = await makeApp();
    const { IncomingMessage: Request } = app.messages;
    expect(Request).not.toBe(IncomingMessage);
    const port = await listen(createServer({ IncomingMessage: Request }, app.listener));
    expect((await ask(port, '/api/v1/group/7')).status).toBe(200);
    expect([app.keepsPrototypes(), log.length]).toEqual([false, 1]);
  });
});

describe('messages', () => {
  it('are the same to Express as its own: the way back to the app, and what it adds to both', async () => {
    const { app } = await makeApp();
    const seen: unknown[] = [];
    const { server } = createHttpServer(app);
    const observe: RequestListener = (request, response) => {
      seen.push(typeof Reflect.get(request, 'app'), typeof Reflect.get(response, 'send'));
      seen.push(Reflect.get(request, 'ip'), Reflect.get(request, 'hostname'));
    };
    server.on('request', observe);
    const port = await listen(server);
    await ask(port, '/api/v1/group/7', { headers: { Host: 'api.example' } });
    expect(seen).toEqual(['function', 'function', '127.0.0.1', 'api.example']);
  });
});
