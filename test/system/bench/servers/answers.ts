import { request } from 'node:http';
import { z } from 'zod';

/** Answers of the proxy, taken down to be given by others word for word. */

const answers = z.array(
  z.object({
    path: z.string(),
    /** Its entity tag. */
    tag: z.string(),
    /** Headers of 200 and of 304, flat. */
    ok: z.array(z.string()),
    notModified: z.array(z.string()),
    /** In base64. */
    body: z.string(),
  }),
);

export type Answers = z.infer<typeof answers>;

/** Of the connection and of the moment, and made by any server itself. */
const OWN = new Set(['date', 'connection', 'keep-alive']);

interface Received {
  readonly status: number;
  readonly headers: string[];
  readonly body: Buffer;
}

export function readAnswers(text: string): Answers {
  return answers.parse(JSON.parse(text));
}

/** Asks for each path, and again with the entity tag that was the answer. */
export async function takeDown(port: number, paths: readonly string[]): Promise<Answers> {
  const taken: Answers = [];
  for (const path of paths) {
    const { status, headers, body } = await get(port, path);
    const tag = headers[headers.indexOf('ETag') + 1] ?? '';
    const again = await get(port, path, { 'If-None-Match': tag });
    if (status !== 200 || again.status !== 304)
      throw new Error(`${path} was answered ${status}, ${again.status}`);
    taken.push({ path, tag, ok: headers, notModified: again.headers, body: body.toString('base64') });
  }
  return taken;
}

export async function get(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<Received> {
  return new Promise((settle, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject).on('end', () => {
        const { statusCode = 0, rawHeaders } = response;
        const own = rawHeaders.filter(
          (_, index) => !OWN.has((rawHeaders[index - (index % 2)] ?? '').toLowerCase()),
        );
        settle({ status: statusCode, headers: own, body: Buffer.concat(chunks) });
      });
    });
    outgoing.on('error', reject).end();
  });
}
