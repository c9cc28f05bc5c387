/**
 * The floor: node:http, which answers from memory with the very bytes and headers it is given. With `together` it
 * writes the answers of one turn of the event loop together and each in one piece, as the proxy does.
 *   node build/test/system/bench/raw.js ANSWERS.json PORT [together]
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { KEEP_ALIVE_TIMEOUT_MS } from '../../../proxy/http/server.js';
import { write } from '../../../proxy/http/send.js';
import { takenAnswers } from './servers.js';

const [file = '', port, together] = process.argv.slice(2);

const answers = new Map(
  takenAnswers
    .parse(JSON.parse(readFileSync(file, 'utf8')))
    .map(({ path, body, ...answer }) => [path, { ...answer, body: Buffer.from(body, 'base64') }]),
);

createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, (request, response) => {
  const answer = answers.get(request.url ?? '');
  if (answer === undefined) {
    response.writeHead(404).end();
    return;
  }
  const isUnmodified = request.headers['if-none-match'] === answer.tag;
  const status = isUnmodified ? 304 : 200;
  const headers = isUnmodified ? answer.notModified : answer.ok;
  const body = isUnmodified ? undefined : answer.body;
  if (together === undefined) response.writeHead(status, headers).end(body);
  else write(request, response, { status, headers, body });
}).listen(Number(port), '127.0.0.1');
