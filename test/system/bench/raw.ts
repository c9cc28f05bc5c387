/**
 * The floor: node:http, which answers from memory with the very bytes and headers it is given.
 *   node build/test/system/bench/raw.js ANSWERS.json PORT
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { KEEP_ALIVE_TIMEOUT_MS } from '../../../proxy/http/server.js';
import { takenAnswers } from './servers.js';

const [file = '', port] = process.argv.slice(2);

const answers = new Map(
  takenAnswers
    .parse(JSON.parse(readFileSync(file, 'utf8')))
    .map(({ path, fields, body }) => [path, { fields, body: Buffer.from(body, 'base64') }]),
);

createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, (request, response) => {
  const answer = answers.get(request.url ?? '');
  if (answer === undefined) response.writeHead(404).end();
  else response.writeHead(200, answer.fields).end(answer.body);
}).listen(Number(port), '127.0.0.1');
