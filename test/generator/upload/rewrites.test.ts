/** The functions of docs/publishing.md that find the file of a URL, run as they stand there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PROJECT } from '../../support/folder.js';
import { published } from '../../support/build.js';
import { writeRegister } from '../../support/register.js';
import { ROWS, filesByUrl, temporary } from '../publish/support.js';

const path = temporary();
const out = path('dist');
const [common = '', cloudFront = '', worker = ''] = [
  ...readFileSync(join(PROJECT, 'docs/publishing.md'), 'utf8').matchAll(/```js\n(.*?)```/gs),
].map(([, code]) => code);

beforeAll(() => published({ register: writeRegister(path('register.sqlite'), ROWS), out }));

/** What a call in the documented code gives. */
const evaluate = (code: string, globals: object): unknown => runInNewContext(code, { ...globals });

describe('the rewriting functions of the documentation', () => {
  it('find the file of every URL in a CloudFront Function', () => {
    const found = filesByUrl(out).map(([url]) => {
      const { pathname, searchParams } = new URL(url, 'https://register.example');
      const querystring = Object.fromEntries([...searchParams].map(([name, value]) => [name, { value }]));
      const event = { request: { uri: pathname, querystring } };
      const request = evaluate(`${common}${cloudFront}; handler(event)`, { event });
      return z.object({ uri: z.string() }).parse(request).uri;
    });
    expect(found).toEqual(filesByUrl(out).map(([, file]) => file));
    expect(found.length).toBeGreaterThan(300);
  });

  it('find the file of every URL in a Cloudflare Worker', () => {
    const code = `${common}${worker.replace('export default', 'const worker =')}; urls.map((url) => worker.fetch({ url }))`;
    const urls = filesByUrl(out).map(([url]) => `https://register.example${url}`);
    // The request goes to the bucket; here it only says where.
    class Request extends URL {
      constructor(url: URL) {
        super(url.href);
      }
    }
    const globals = { URL, urls, Request, fetch: ({ pathname, search }: URL) => pathname + search };
    expect(evaluate(code, globals)).toEqual(filesByUrl(out).map(([, file]) => file));
  });

  it('send a limit that is no number nowhere', () => {
    expect(evaluate(`${common}; fileOf('/api/v1/largest', '../../x')`, {})).toBe('/invalid');
  });

  it.each(['/a.css?list-type=2', '/a.css%3flist-type=2', '/a b.css', '/a.css\n', '/api/../../other/a.json'])(
    'send %j nowhere',
    (uri) => {
      expect(evaluate(`${common}; fileOf(uri)`, { uri })).toBe('/invalid');
    },
  );
});
