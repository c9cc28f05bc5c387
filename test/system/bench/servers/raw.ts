/**
 * The floor: node:http, which answers from memory with the very bytes and headers it is given. With `together` it
 * writes the answers of one turn of the event loop together and each in one piece, as the proxy does.
 *   node build/test/system/bench/servers/raw.js ANSWERS.json PORT [together]
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { KEEP_ALIVE_TIMEOUT_MS } from '../../../../proxy/http/server.js';
import { write } from '../../../../proxy/http/writer.js';
import { readAnswers } from './answers.js';

const [file = '', port, together] = process.argv.slice(2);

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
    return;
  }
  const { tag, ok, notModified, body } = answer;
  const isUnmodified = request.headers['if-none-match'] === tag;
  if (together !== undefined) {
    const status = isUnmodified ? 304 : 200;
    write(request, response, {
      status,
      headers: isUnmodified ? notModified : ok,
      body: isUnmodified ? undefined : body,
      downloadCost: 0,
    });
  } else if (isUnmodified) {
    response.writeHead(304, notModified).end();
  } else {
    response.writeHead(200, ok).end(body);
  }
}).listen(Number(port), '127.0.0.1');
