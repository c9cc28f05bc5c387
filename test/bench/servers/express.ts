/**
 * The way most people would write it: Express, express.static and express-rate-limit, by their documentation.
 *   NODE_ENV=production node build/test/bench/servers/express.js DIST PORT
 */
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { join } from 'node:path';

import { COMMON_HEADERS, CONTENT_LIFETIMES } from '../../../proxy/headers.js';

const [dist = '', port] = process.argv.slice(2);

const app = express();
app.use(
  rateLimit({ windowMs: 60_000, limit: 1_000_000_000, standardHeaders: 'draft-8', legacyHeaders: false }),
);
app.use((_request, response, next) => {
  for (let index = 0; index + 1 < COMMON_HEADERS.length; index += 2) {
    response.setHeader(COMMON_HEADERS[index] ?? '', COMMON_HEADERS[index + 1] ?? '');
  }
  response.setHeader('Cache-Control', CONTENT_LIFETIMES.record.cacheControl);
  next();
});
app.use(express.static(join(dist), { extensions: ['json'], cacheControl: false }));
app.listen(Number(port), '127.0.0.1');
