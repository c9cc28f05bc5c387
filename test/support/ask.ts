/** Requests over HTTP, each on a connection of its own, with its target sent as it is. */
import { request, type Agent, type OutgoingHttpHeaders, type IncomingHttpHeaders } from 'node:http';

export interface AskOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** The client's address: all of 127.0.0.0/8 is this machine. */
  readonly from?: string;
  /** For connections that are used again. */
  readonly agent?: Agent | false;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as sent, but for Node's own. */
  readonly fields: readonly string[];
  readonly names: readonly string[];
  readonly body: Buffer;
  readonly text: string;
}

const NODES_OWN = /^(date|connection|keep-alive|transfer-encoding)$/i;

/** @throws what the connection fails with, before the end of the answer too */
export async function ask(port: number, target: string, options: AskOptions = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, from = '127.0.0.1', agent = false } = options;
  return new Promise((settle, reject) => {
    const place = { port, host: '127.0.0.1', path: target, localAddress: from };
    const outgoing = request({ ...place, method, headers, agent });
    outgoing.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headers, rawHeaders } = response;
        const fields = rawHeaders.filter((_, at) => !NODES_OWN.test(rawHeaders[at - (at % 2)] ?? ''));
        const names = fields.filter((_, at) => at % 2 === 0);
        const body = Buffer.concat(chunks);
        settle({ status, headers, fields, names, body, text: body.toString('utf8') });
      });
    });
    outgoing.end();
  });
}
