/** An origin that is hostile in what it says of headers, types and limits: nothing of it is published. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { matching } from '../../../support/values.js';
import { publishedHeaders } from '../../../../generator/routes/headers.js';
import { ROUTES, documentsOf } from './made-up.js';
import { SignedLog } from './signed-log.js';
import { copying } from './copies.js';

const { origin, out, copied, refused } = await copying();

const ONE = documentsOf({ 1: 'one' });
const OURS = publishedHeaders('https://licence.example/');

/** What a run is refused for in one plain line, with the options that it has. */
async function refusal(...options: string[]): Promise<string> {
  const [code, text] = await refused(...options);
  expect([code, text]).toEqual([1, matching(/^error: [ -~]+\n$/)]);
  return text;
}

const withAll = (fields: object) => ({ headers: { ...OURS, all: { ...OURS.all, ...fields } } });
const withPage = (fields: object) => ({
  headers: { ...OURS, content: { ...OURS.content, page: { ...OURS.content.page, ...fields } } },
});
const withRoute = (name: string, members: object) => ({
  routes: ROUTES.map((each) => (each.name === name ? { ...each, ...members } : each)),
});

const POLICY = 'Content-Security-Policy';
const SNIFFING = 'X-Content-Type-Options';
const cached = (value: string) =>
  [withPage({ 'Cache-Control': value }), 'headers.content.page.Cache-Control'] as const;
const UNUSABLE = "can't be used";
const INJECTED = 'X-Z 1;\n    location ^~ /pwn/ { alias /etc/; autoindex on; }\n    add_header X-Y';

describe('an origin', () => {
  it.each<[string, object, string]>([
    ['a header of its own', withAll({ 'X-Own': 'z' }), 'headers.all.X-Own is "z", expected nothing'],
    ['a page of any policy', withPage({ [POLICY]: '*' }), `headers.content.page.${POLICY} is "*"`],
    ['types that are guessed', withAll({ [SNIFFING]: undefined }), `${SNIFFING} is nothing`],
    ['pages for years', ...cached('public, max-age=99999999')],
    ['a lifetime of its own', ...cached('private, max-age=60')],
    ['a style', withPage({ Link: '<//other.example/x.css>; rel=stylesheet' }), 'headers.content.page.Link'],
    [
      'errors that are kept',
      { headers: { ...OURS, error: { ...OURS.error, 'Cache-Control': 'max-age=60' } } },
      'headers.error.Cache-Control',
    ],
    [
      'records as pages',
      withRoute('group', { type: 'text/html' }),
      'the route group has the type "text/html", expected "application/json; charset=utf-8"',
    ],
    ['an unknown file as a page', withRoute('own', { type: 'text/html' }), 'the route own has the type'],
    ['a header of a route', withRoute('stats', { headers: { 'X-Own': 'z' } }), 'stats has the header X-Own'],
    ['a limit that is none', { limits: { api: { tokens: 1e9, refill_seconds: 1 } } }, UNUSABLE],
    ['a time that says more', { as_of: '2026-11-20T08:00:00Z\nproxy: \u001B[31mforged' }, UNUSABLE],
    ['a time of its build that is none', { built_at: 'now' }, UNUSABLE],
    ['an injected directive', withAll({ [INJECTED]: 'z' }), UNUSABLE],
  ])('that sends %s is refused, and the difference is named', async (_, members, message) => {
    origin.publish(ONE);
    origin.announce(members);
    expect(await refusal()).toContain(message);
  });

  it('is not refused for a lifetime within bounds, or a licence of its own', async () => {
    origin.publish(ONE);
    const others = publishedHeaders('https://other.example/terms');
    const page = { ...others.content.page, 'Cache-Control': 'public, max-age=60' };
    origin.announce({ headers: { ...others, content: { ...others.content, page } } });
    await copied();
    expect(readFileSync(join(out, 'snapshot.json'))).toEqual(origin.files.get('/snapshot.json'));
  });
});

describe('a signed origin', () => {
  const own = withAll({ 'X-Own': 'z' });
  const UNCOVERED = /is not the one that the newest entry of the log covers/;
  let log: SignedLog;
  let key: readonly [string, string];
  beforeEach(() => {
    log = new SignedLog(origin);
    key = ['--key', log.keys[0]?.vkey ?? ''];
    origin.publish(ONE);
  });

  it('may have headers of its own if its log covers them and its key is given', async () => {
    origin.announce(own);
    log.sign();
    expect(await refusal()).toMatch(/not signed by a given key.*headers\.all\.X-Own is "z"/);
    await copied(...key);
    expect(readFileSync(join(out, 'snapshot.json'))).toEqual(origin.files.get('/snapshot.json'));
    await copied(...key);
    expect((await refused())[0]).toBe(1);
  });

  it('is refused if its snapshot.json is another than its log covers, with or without the key', async () => {
    log.sign();
    origin.announce(own);
    expect(await refusal(...key)).toMatch(UNCOVERED);
    const limit = { tokens: 9, refill_seconds: 1 };
    origin.announce({ limits: { api: limit, download: { ...limit, token_bytes: 1 }, page: limit } });
    expect(await refusal()).toMatch(UNCOVERED);
  }, 60_000);
});
