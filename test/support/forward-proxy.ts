/** A forward proxy, as companies have one: requests for http in absolute form, tunnels for https. */
import { createServer, request as send } from 'node:http';
import { connect } from 'node:net';
import { listenOn } from './ports.js';

/**
 * Starts one that ends with the test.
 * @param ports where each host listens, here, whatever port of it is asked for
 * @returns its URL, and what it was asked for so far: `GET http://a.invalid/`, `CONNECT a.invalid:443`
 */
export async function forwardProxy(ports: Readonly<Record<string, number>>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    asked.push(`${method} ${url}`);
    const { hostname, pathname, search } = new URL(url);
    const to = { host: '127.0.0.1', port: ports[hostname], path: pathname + search, method, headers };
    const sent = send(to, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(sent);
  });
  server.on('connect', ({ url = '' }, client) => {
    asked.push(`CONNECT ${url}`);
    const host = connect(ports[url.replace(/:\d+$/, '')] ?? 0, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      host.pipe(client).pipe(host);
    });
    for (const socket of [client, host])
      socket.on('error', () => [client, host].map((each) => each.destroy()));
  });
  return { url: `http://127.0.0.1:${await listenOn(server)}`, asked };
}
