/**
 * The way most people would write it: Express, express.static and express-rate-limit, by their documentation.
 *   NODE_ENV=production node build/test/system/bench/express.js DIST PORT
 */
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseSnapshot } from '../../../proxy/tree/schema.js';

const [dist = '', port] = process.argv.slice(2);

const { headers } = parseSnapshot(readFileSync(join(dist, 'snapshot.json'), 'utf8'));
const common = { ...headers.all, 'Cache-Control': headers.content.record['Cache-Control'] ?? '' };

const app = express();
app.use(
  rateLimit({ windowMs: 60_000, limit: 1_000_000_000, standardHeaders: 'draft-8', legacyHeaders: false }),
);
app.use((_request, response, next) => {
  response.set(common);
  next();
});
app.use(express.static(join(dist), { extensions: ['json'], cacheControl: false }));
app.listen(Number(port), '127.0.0.1');
