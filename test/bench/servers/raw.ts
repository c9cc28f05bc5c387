/**
 * The floor: node:http, which answers from memory with the very bytes and headers it is given.
 *   node build/test/bench/servers/raw.js ANSWERS.json PORT
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { KEEP_ALIVE_TIMEOUT_MS } from '../../../proxy/config.js';
import { readAnswers } from './answers.js';

const [file = '', port] = process.argv.slice(2);

const answers = new Map(
  readAnswers(readFileSync(file, 'utf8')).map(({ path, tag, ok, notModified, body }) => [
    path,
    { tag, ok, notModified, body: Buffer.from(body, 'base64') },
  ]),
);

createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, (request, response) => {
  const answer = answers.get(request.url ?? '');
  if (answer === undefined) {
    response.writeHead(404).end();
  } else if (request.headers['if-none-match'] === answer.tag) {
    response.writeHead(304, answer.notModified).end();
  } else {
    response.writeHead(200, answer.ok).end(answer.body);
  }
}).listen(Number(port), '127.0.0.1');
