/** The limiter in an Express application of its own, with a clock that the test moves. */
import express from 'express';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';
import { DEFAULT_QUOTAS, type BucketName, type Quotas } from '../../../proxy/limiter/gcra.js';
import { createLimiter, type LimitedRequest, type Limiter } from '../../../proxy/limiter/middleware.js';
import type { RedisBuckets } from '../../../proxy/limiter/redis-store.js';

interface Outcome {
  readonly status: number;
  readonly limit: LimitedRequest['limit'] | null;
  readonly refusedBy: BucketName | null;
}

interface Tested {
  readonly limiter: Limiter;
  readonly ask: (bucket: BucketName, options?: { cost?: number; client?: string }) => Promise<Outcome>;
  readonly advance: (ms: number) => void;
}

/** The limiter in an Express application, which responds with what the limiter said. */
export async function started(quotas: Partial<Quotas> = {}, redis?: RedisBuckets): Promise<Tested> {
  let nowMs = 1_800_000_000_000;
  const limiter = createLimiter({
    quotas: { ...DEFAULT_QUOTAS, ...quotas },
    clock: () => nowMs,
    maxClients: 100,
    redis,
    onRefused: (request, response, refusedBy) => {
      response.status(429).json({ limit: request.context?.limit, refusedBy });
    },
  });
  const app = express();
  app.use(limiter.limit);
  app.use((request, response, next) => {
    const { bucket, downloadCost = 0 } = request.context ?? {};
    if (bucket === 'download' && downloadCost > 0) return limiter.limitDownload(request, response, next);
    next();
    return undefined;
  });
  app.use((request, response) => {
    response.json({ limit: request.context?.limit, refusedBy: null });
  });
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    const bucket = (['api', 'download', 'page'] as const).find((name) => name === searchParams.get('bucket'));
    if (bucket !== undefined) {
      const client = searchParams.get('client') ?? undefined;
      const downloadCost = Number(searchParams.get('cost'));
      // As much of a context as the limiter needs.
      Object.assign(request, { context: { client, bucket, downloadCost, limit: undefined } });
    }
    app(request, response);
  });
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected to listen on a port');
  return {
    limiter,
    advance: (ms) => void (nowMs += ms),
    ask: async (bucket, { cost = 1, client = '192.0.2.7' } = {}) => {
      const query = new URLSearchParams({ bucket, cost: String(cost), client });
      const response = await fetch(`http://127.0.0.1:${address.port}/?${query.toString()}`);
      const body: unknown = await response.json();
      if (typeof body !== 'object' || body === null) throw new Error('expected an object');
      return { status: response.status, limit: null, refusedBy: null, ...body };
    },
  };
}

export async function statuses(
  tested: Tested,
  count: number,
  ...request: Parameters<Tested['ask']>
): Promise<string> {
  const outcomes: number[] = [];
  for (let index = 0; index < count; index += 1) outcomes.push((await tested.ask(...request)).status);
  return outcomes.join(' ');
}

export const quota = (burst: number, seconds: number): Quotas['api'] => ({
  burst,
  emissionIntervalMs: seconds * 1000,
});
