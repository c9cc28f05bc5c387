/** An origin that is hostile in what it says of headers, types and limits: nothing of it is published. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { publishedHeaders } from '../../../generator/routes/headers.js';
import { parseSnapshot } from '../../../proxy/snapshot/snapshot.js';
import { newKey } from '../log/witness-server.js';
import { inProcess, temporary } from '../publish/support.js';
import { HOSTILE_NAMES, HOSTILE_TEXTS, alterations, jsonObject } from '../tree/hostile.js';
import { MadeUpOrigin, ROUTES, documentsOf } from './made-up.js';
import { SignedLog } from './signed-log.js';
import { impatient } from './impatient.js';

const path = temporary();
impatient();
let origin: MadeUpOrigin;
let base: string;
let out: string;

beforeEach(async () => {
  origin = new MadeUpOrigin();
  base = await origin.start(0);
  out = path('copy');
});
afterEach(() => origin.stop());

const ONE = documentsOf({ 1: 'one' });
const OURS = publishedHeaders('https://licence.example/');
const run = (...options: string[]) => inProcess('mirror', base, '--out', out, ...options);

/** Whether the origin is refused in one plain line that names why, and nothing of it is there. */
async function refusal(message: string | RegExp, ...options: string[]) {
  const { code, stderr } = await run(...options);
  return {
    code,
    why: (typeof message === 'string' ? stderr.includes(message) : message.test(stderr)) ? 'named' : stderr,
    isPlain: /^error: [ -~]+\n$/.test(stderr),
    isPublished: existsSync(join(out, 'snapshot.json')),
  };
}
const REFUSED = { code: 1, why: 'named', isPlain: true, isPublished: false };

const withAll = (fields: object) => ({ headers: { ...OURS, all: { ...OURS.all, ...fields } } });
const withPage = (fields: object) => ({
  headers: { ...OURS, content: { ...OURS.content, page: { ...OURS.content.page, ...fields } } },
});
const withRoute = (name: string, members: object) => ({
  routes: ROUTES.map((each) => (each.name === name ? { ...each, ...members } : each)),
});

const INJECTED = 'X-Z 1;\n    location ^~ /pwn/ { alias /etc/; autoindex on; }\n    add_header X-Y';

describe('an origin', () => {
  it.each(HOSTILE_NAMES)('that sends a header "%s" is refused', async (name) => {
    origin.publish(ONE);
    origin.announce(withAll({ [name]: 'z' }));
    expect(await refusal(/can't be used .see "headers.all\./)).toEqual(REFUSED);
  });

  it.each(HOSTILE_TEXTS.filter((text) => !/^[!-~]([ -~]*[!-~])?$/.test(text) || text.length > 4096))(
    'that sends a value that breaks a line is refused: %j',
    async (value) => {
      origin.publish(ONE);
      origin.announce(withAll({ 'X-Content-Type-Options': value }));
      expect(await refusal(/can't be used \(see "headers\.all\.X-Content-Type-Options"\)/)).toEqual(REFUSED);
    },
  );

  it.each<[string, object, string]>([
    ['a header of its own', withAll({ 'X-Own': 'z' }), 'headers.all.X-Own is "z", expected nothing'],
    [
      'a page of any policy',
      withPage({ 'Content-Security-Policy': '*' }),
      'headers.content.page.Content-Security-Policy is "*"',
    ],
    ['no policy', withPage({ 'Content-Security-Policy': undefined }), 'Content-Security-Policy is nothing'],
    [
      'another CORS',
      withAll({ 'Access-Control-Allow-Origin': 'https://other.example' }),
      'Access-Control-Allow-Origin is',
    ],
    [
      'types that are guessed',
      withAll({ 'X-Content-Type-Options': undefined }),
      'X-Content-Type-Options is nothing',
    ],
    [
      'pages for years',
      withPage({ 'Cache-Control': 'public, max-age=99999999' }),
      'headers.content.page.Cache-Control',
    ],
    [
      'immutable pages',
      withPage({ 'Cache-Control': 'public, max-age=60, immutable' }),
      'headers.content.page.Cache-Control',
    ],
    [
      'a lifetime of its own',
      withPage({ 'Cache-Control': 'private, max-age=60' }),
      'headers.content.page.Cache-Control',
    ],
    [
      'a style by a link',
      withPage({ Link: '<//other.example/x.css>; rel=stylesheet' }),
      'headers.content.page.Link',
    ],
    [
      'errors that are kept',
      { headers: { ...OURS, error: { ...OURS.error, 'Cache-Control': 'max-age=60' } } },
      'headers.error.Cache-Control',
    ],
    [
      'records as pages',
      withRoute('group', { type: 'text/html; charset=utf-8' }),
      'the route group has the type "text/html; charset=utf-8", expected "application/json; charset=utf-8"',
    ],
    ['an unknown file as a page', withRoute('own', { type: 'text/html' }), 'the route own has the type'],
    ['a page without a policy', withRoute('front-page', { class: 'summary' }), 'is of the class summary'],
    [
      'a header of a route',
      withRoute('stats', { headers: { 'X-Own': 'z' } }),
      'the route stats has the header X-Own',
    ],
  ])('that sends %s is refused, and the difference is named', async (_, members, message) => {
    origin.publish(ONE);
    origin.announce(members);
    expect(await refusal(message)).toEqual(REFUSED);
  });

  it.each<[string, object]>([
    ['a limit that is none', { limits: { api: { tokens: 1e9, refill_seconds: 1 } } }],
    ['a time that says more', { as_of: '2026-11-20T08:00:00Z\nregister-api proxy: \u001B[31mforged' }],
    ['a time of its build that is none', { built_at: 'now' }],
    ['an injected directive', withAll({ [INJECTED]: 'z' })],
  ])('with %s is refused', async (_, members) => {
    origin.publish(ONE);
    origin.announce(members);
    expect(await refusal(/can't be used/)).toEqual(REFUSED);
  });

  it('is not refused for a lifetime within bounds, or a licence of its own', async () => {
    origin.publish(ONE);
    const others = publishedHeaders('https://other.example/terms');
    origin.announce({
      headers: {
        ...others,
        content: {
          ...others.content,
          page: { ...others.content.page, 'Cache-Control': 'public, max-age=60' },
        },
      },
    });
    expect(await run()).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(out, 'snapshot.json'))).toEqual(origin.files.get('/snapshot.json'));
  });

  it('is copied only if the proxy takes what it says, wherever that is altered', async () => {
    origin.publish(ONE);
    const honest = jsonObject.parse(JSON.parse(String(origin.files.get('/snapshot.json'))));
    const altered = [...alterations(honest)].filter((_, index) => index % 97 === 0);
    expect(altered.length).toBeGreaterThan(30);
    const served: string[] = [];
    for (const { snapshot } of altered) {
      out = path('copy');
      origin.files.set('/snapshot.json', Buffer.from(JSON.stringify(snapshot)));
      const { code } = await run('--quiet');
      expect([0, 1]).toContain(code);
      if (code === 0) served.push(readFileSync(join(out, 'snapshot.json'), 'utf8'));
    }
    for (const text of served) expect(() => parseSnapshot(text)).not.toThrow();
  }, 60_000);
});

describe('a signed origin', () => {
  const own = withAll({ 'X-Own': 'z' });

  it('may have headers of its own for whom gives its key, if its log covers them', async () => {
    const log = new SignedLog(origin);
    origin.publish(ONE);
    origin.announce(own);
    log.sign();
    expect(await refusal(/not signed by a given key.*headers\.all\.X-Own is "z"/)).toEqual(REFUSED);
    const key = ['--key', log.keys[0]?.vkey ?? ''];
    expect(await run(...key)).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(out, 'snapshot.json'))).toEqual(origin.files.get('/snapshot.json'));
    expect(await run(...key)).toMatchObject({ code: 0, stderr: '' });
    expect(await run()).toMatchObject({ code: 1 });
  });

  it('is refused if its snapshot.json is another than its log covers, with or without the key', async () => {
    const log = new SignedLog(origin);
    origin.publish(ONE);
    log.sign();
    origin.announce(own);
    expect(
      await refusal(
        /is not the one that the newest entry of the log covers/,
        '--key',
        log.keys[0]?.vkey ?? '',
      ),
    ).toEqual(REFUSED);
    origin.announce({
      limits: {
        api: { tokens: 9, refill_seconds: 1 },
        download: { tokens: 9, refill_seconds: 1 },
        page: { tokens: 9, refill_seconds: 1 },
      },
    });
    expect(await refusal(/is not the one that the newest entry of the log covers/)).toEqual(REFUSED);
  }, 60_000);

  it('may have been built at another time', async () => {
    const log = new SignedLog(origin);
    origin.publish(ONE);
    log.sign();
    origin.announce({}, '2026-12-02T00:00:00Z');
    expect(await run('--key', log.keys[0]?.vkey ?? '')).toMatchObject({ code: 0, stderr: '' });
  });

  it('whose entries are of the first version is taken as one that nobody has signed', async () => {
    const log = new SignedLog(origin, [newKey('register.example', 1)]);
    origin.publish(ONE);
    log.sign(log.entry());
    const key = ['--key', log.keys[0]?.vkey ?? ''];
    origin.announce(own);
    expect(await refusal(/not signed by a given key/, ...key)).toEqual(REFUSED);
    origin.announce();
    expect(await run(...key)).toMatchObject({ code: 0, stderr: '' });
  });
});
