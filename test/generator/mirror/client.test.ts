/** How often the client tries, without its waits. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, it, vi } from 'vitest';
import { Client } from '../../../generator/mirror/client.js';
import { quiet } from '../../support/build.js';

const LENGTH = 100;
let close = (): void => undefined;
afterEach(() => close());

/** Breaks every response after ten bytes. @returns the client and what it asked for */
async function breaking() {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ headers: { range } }: IncomingMessage, response: ServerResponse) => {
    asked.push(range);
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': LENGTH - start });
    response.write('0123456789', () => {
      if (start + 10 < LENGTH) response.destroy();
    });
  });
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const client = new Client(new URL(`http://127.0.0.1:${port}/`), 'test', quiet());
  vi.spyOn(client, 'wait').mockResolvedValue();
  close = () => {
    client.close();
    server.closeAllConnections();
    server.close();
  };
  return { client, asked };
}

async function readAll({ chunks }: { readonly chunks: AsyncIterable<Buffer> }): Promise<void> {
  for await (const _ of chunks);
}

it('gives up after six tries that all break, whatever they got', async () => {
  const { client, asked } = await breaking();
  await expect(client.get(() => ({ path: '/x', bucket: 'api' }), readAll)).rejects.toThrow(
    /\/x: .* \(6 times\)$/,
  );
  expect(asked).toHaveLength(6);
});

it('goes on for as long as each try gets further', async () => {
  const { client, asked } = await breaking();
  let received = 0;
  await client.get(
    () => ({ path: '/x', bucket: 'api', start: received }),
    async ({ chunks }) => {
      for await (const chunk of chunks) received += chunk.length;
    },
  );
  expect(received).toBe(LENGTH);
  expect(asked).toEqual([undefined, ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((tens) => `bytes=${tens}0-`)]);
});
