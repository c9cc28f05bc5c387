/** The scripts of deploy/, run against servers of the test: what they send, and what a failure leaves. */
import { appendFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CLI } from '../support/cli.js';
import { newFolder, temporary } from '../support/folder.js';
import { listenOn } from '../support/ports.js';
import { writeFiles, writeOperator } from '../support/operator.js';
import { has } from '../support/programs.js';
import { hashesOf } from '../support/published.js';
import { changeRegister, writeRegister } from '../support/register.js';
import { differing, isSibling } from '../support/tree.js';
import { containing } from '../support/values.js';
import { DEPLOY, DONE, holding, record, run, type Received } from './run.js';

const path = temporary();
const HAS_TOOLS = has('the scripts of deploy/', 'curl', 'jq', 'rclone');
const BASE = 'https://register.example';

/** What the script reads of snapshot.json. */
const SNAPSHOT = JSON.stringify({
  sequence: 118,
  routes: [
    ['/api/v1/group/{id}', 'group'],
    ['/api/v1/group/platform/{platform_id}', 'group'],
    ['/api/v1/lookup/username/{prefix}', 'summary'],
    ['/group/{id}/history.json', 'group'],
    ['/api/v1/largest', 'summary'],
    ['/feeds/groups.atom', 'feed'],
    ['/assets/style-0a1b2c.css', 'asset'],
    ['/downloads/groups.csv', 'download'],
    ['/downloads/users.csv', 'download'],
    ['/group', 'group-page', 'group.html'],
    ['/group/{id}', 'group-page', 'group.html', 'group'],
  ].map(([path, tag, file = path, requires]) => {
    const headers = { 'Cache-Tag': tag, 'Surrogate-Key': tag };
    return { path, headers, file, requires, class: tag };
  }),
});

const list = z.array(z.string()).default([]);
const purgeSchema = z.object({ files: list, tags: list });

/** What the proxy sends with snapshot.json, and a bucket doesn't. */
const TAGS: Readonly<Record<string, string>> = { 'cache-tag': 'summary', 'surrogate-key': 'summary' };

/** For purge.sh, with a server of the test that is the origin and the API of the CDN at once. */
const purging = (cdn: string, base: string, delay = '0') => ({
  CDN: cdn,
  ORIGIN: base,
  PURGE_PATIENCE: '1',
  PURGE_DELAY: delay,
  CLOUDFLARE_API: base,
  CLOUDFLARE_ZONE: 'zone',
  CLOUDFLARE_TOKEN: 'secret',
  FASTLY_API: base,
  FASTLY_SERVICE: 'service',
  FASTLY_TOKEN: 'secret',
});

/**
 * Purges lines of URLs, of an origin with this snapshot.json.
 * @param status of the API of the CDN
 * @param delay in seconds; the empty string is the default
 * @returns how that ended, and what the API received
 */
async function purge(
  cdn: string,
  paths: readonly string[],
  { snapshot = SNAPSHOT, headers = TAGS, status = 200, delay = '0' } = {},
) {
  const server = await record(() => ({ '/snapshot.json': snapshot }), headers);
  server.status = status;
  const folder = path('purge');
  const urls = urlsOf(paths).map((url) => `${url}\n`);
  writeFiles(folder, { urls: urls.join(''), 'snapshot.json': SNAPSHOT });
  const command = [join(DEPLOY, 'purge.sh'), join(folder, 'urls'), join(folder, 'snapshot.json')] as const;
  return { ended: await run(command, purging(cdn, server.base, delay)), received: server.received };
}

const groups = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `/api/v1/group/${index + 1}`);
const urlsOf = (paths: readonly string[]): string[] => paths.map((each) => BASE + each);
const bodies = (received: readonly Received[]) => received.map(({ body }): unknown => JSON.parse(body));

/** What the API receives of a purge that ends well. */
async function purged(...of: Parameters<typeof purge>): Promise<readonly Received[]> {
  const { ended, received } = await purge(...of);
  expect(ended).toEqual(DONE);
  return received;
}

const files = (...paths: readonly string[]) => ({ files: urlsOf(paths), tags: [] });
const tagged = (...tags: readonly string[]) => ({ files: [], tags });

describe.skipIf(!HAS_TOOLS)('purge.sh', () => {
  const ZONE = 'POST /zones/zone/purge_cache';
  const few = ['/group', '/group/7', '/api/v1/group/7'];
  const old = '/assets/old-ffffff.css';
  const many = [
    ...groups(200),
    '/group/7/history.json',
    '/api/v1/group/platform/old-mill.2',
    '/api/v1/lookup/username/b42f',
    '/api/v1/largest?limit=10',
    '/feeds/groups.atom',
    old,
  ];
  const csvs = ['/downloads/groups.csv', '/downloads/users.csv'];
  const hundreds = (count: number): object[] =>
    [0, 100, 200].flatMap((at) => (at < count ? [files(...groups(count).slice(at, at + 100))] : []));
  it.each<[what: string, paths: readonly string[], headers: Record<string, string>, bodies: object[]]>([
    ['up to 150 URLs, 100 at a time', groups(150), TAGS, hundreds(150)],
    ['the tags of more, and URLs of no route', many, TAGS, [files(old), tagged('feed', 'group', 'summary')]],
    ['few URLs, and the tag of a page of records', few, TAGS, [files(...few), tagged('group-page')]],
    ['no such tag without the page', few.slice(1), TAGS, [files(...few.slice(1))]],
    // Caches have them with ?snapshot=N as well.
    ['downloads, and their tag', csvs, TAGS, [files(...csvs), tagged('download')]],
    ['no tags where the origin, such as a bucket, sends none', few, {}, [files(...few)]],
    ['all URLs there', groups(250), {}, hundreds(250)],
  ])('sends Cloudflare %s', async (_, paths, headers, expected) => {
    const received = await purged('cloudflare', paths, { headers });
    const found = bodies(received).map((body) => purgeSchema.parse(body));
    expect(found.map((body) => ({ ...body, tags: body.tags.toSorted() }))).toEqual(expected);
    const sent = { authorization: 'Bearer secret', 'content-type': 'application/json' };
    for (const each of received) expect(each).toMatchObject({ request: ZONE, headers: sent });
  });

  it('sends Fastly one request for each URL, or one with all tags', async () => {
    const headers = { 'fastly-key': 'secret' };
    const request = (url: string) => ({ request: `POST /purge/register.example${url}`, headers });
    const few = ['/api/v1/group/1', '/api/v1/largest?limit=10'];
    expect(await purged('fastly', few)).toMatchObject(few.map(request));
    const many = await purged('fastly', groups(151));
    expect(many).toMatchObject([{ request: 'POST /service/service/purge', headers }]);
    expect(bodies(many)).toEqual([{ surrogate_keys: ['group'] }]);
    // Of the two headers, each CDN reads its own.
    const untagged = await purged('fastly', groups(151), { headers: { 'Cache-Tag': 'summary' } });
    expect(untagged).toMatchObject(groups(151).map(request));
  });

  it('waits until the origin has the snapshot, or a newer one, and 2 seconds more for others at its address', async () => {
    const before = performance.now();
    const [request] = await purged('cloudflare', groups(1), { snapshot: '{"sequence":119}', delay: '' });
    expect(request?.at).toBeGreaterThan(before + 2000);
    const { ended, received } = await purge('cloudflare', groups(1), { snapshot: '{"sequence":117}' });
    expect(ended.code).toBe(1);
    expect(ended.output).toMatch(/^purge: after 1 s, http:\S+ doesn't serve snapshot 118:\n/);
    expect(received).toEqual([]);
  });

  it('ends with an error if the CDN refuses, or is not known', async () => {
    for (const cdn of ['cloudflare', 'fastly'])
      expect((await purge(cdn, groups(3), { status: 403 })).ended).not.toMatchObject({ code: 0 });
    const output = 'purge: CDN is "akamai", expected cloudflare or fastly\n';
    expect((await purge('akamai', groups(1))).ended).toEqual({ code: 2, output });
  });
});

/**
 * A register that publish.sh publishes, to a folder and with a CDN that the test serves. Generator and rclone are the
 * real ones, and their calls are noted.
 * @param isSent whether rclone sends files, which it is started a dozen times for, or only compares
 */
async function site({ headers = TAGS, isSent = false } = {}) {
  const folder = path('site');
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const [calls, uploads, out] = [join(folder, 'calls'), join(folder, 'uploads'), join(folder, 'dist')];
  const remote = join(folder, 'remote');
  writeFileSync(uploads, '0');
  const node = `#!/bin/sh
shift
echo "$*" >> ${calls}
exec ${process.execPath} ${CLI} "$@"
`;
  writeFileSync(join(bin, 'node'), node, { mode: 0o755 });
  const rclone = `#!/bin/sh
case $1 in check) step=compare ;; *) step=upload ;; esac
echo $step >> ${calls}
[ "$(cat ${uploads})" = 0 ] || exit "$(cat ${uploads})"
[ $step = compare ] || ${isSent} || exit 0
PATH=\${PATH#${bin}:} exec rclone "$@"
`;
  writeFileSync(join(bin, 'rclone'), rclone, { mode: 0o755 });
  const register = writeRegister(path('register.sqlite'), {
    groups: [1, 2, 3].map((id) => ({ id, name: `group ${id}` })),
    // Breaks the contract, and is not measured.
    games: [{ id: 1, visits: -1 }],
  });
  const content = () => ({ '/snapshot.json': readFileSync(join(out, 'snapshot.json'), 'utf8') });
  const cdn = await record(content, headers);
  return {
    register,
    out,
    cdn,
    publish: (...options: string[]) => {
      writeFileSync(calls, '');
      return run([join(DEPLOY, 'publish.sh'), ...options], {
        PATH: `${bin}:${process.env['PATH'] ?? ''}`,
        REGISTER: register,
        OPERATOR: writeOperator(path('operator'), { not_measured: ['games'] }),
        OUT: out,
        UPLOAD_TO: remote,
        RCLONE_CONFIG: '/dev/null',
        ...purging('cloudflare', cdn.base),
      });
    },
    remote,
    /** The steps of the last run, as its calls of the generator, and of rclone with repetitions left out. */
    steps: () =>
      readFileSync(calls, 'utf8')
        .trimEnd()
        .split('\n')
        .map((call) => call.match(/^\w+|--keep-downloads/g)?.join(' '))
        .filter((step, index, all) => step !== 'upload' || step !== all[index - 1]),
    /** From now on, rclone ends with this exit code. */
    uploadEndsWith: (code: number) => writeFileSync(uploads, String(code)),
    /** The URLs and tags that were purged since the last call. */
    purged: () =>
      bodies(cdn.received.splice(0)).flatMap((body) => {
        const { files, tags } = purgeSchema.parse(body);
        return [...files, ...tags];
      }),
  };
}

const rename = (register: string, id: number, name: string): void =>
  changeRegister(register, `UPDATE groups SET name = '${name}' WHERE id = ${id}`);
const groupUrl = (id: number): unknown => expect.stringMatching(new RegExp(`/api/v1/group/${id}$`));

describe.skipIf(!HAS_TOOLS)('publish.sh', () => {
  it('checks, builds, uploads and purges, and writes the downloads in the first run of a day that ends well', async () => {
    const { publish, steps, purged, register, out, remote } = await site({ isSent: true });
    expect(await publish()).toEqual(DONE);
    expect(steps()).toEqual(['check', 'build', 'compare', 'upload']);
    // There are more than 150 URLs, since the list of the largest groups has 200.
    expect(purged()).toContain('group');
    rename(register, 2, 'two');
    expect(await publish()).toEqual(DONE);
    expect(steps()).toEqual(['check', 'build --keep-downloads', 'upload']);
    const siblingsLeftOut = Object.entries(hashesOf(out)).filter(([name]) => !isSibling(name));
    expect(differing(hashesOf(remote), Object.fromEntries(siblingsLeftOut))).toEqual([]);
    const now = purged();
    expect(now).toContainEqual(groupUrl(2));
    expect(now).not.toContainEqual(groupUrl(1));
    writeFileSync(join(out, '../.dist-publish/downloads'), '2026-01-01\n');
    changeRegister(register, `UPDATE groups SET member_count = -1 WHERE id = 3`);
    const { code, output } = await publish();
    expect(code).toBe(1);
    expect(output).toMatch(/groups\.member_count[^]*publish: check ended with exit code 1\n$/);
    expect([steps(), purged()]).toEqual([['check'], []]);
    // What is left out as invalid would never pass the check.
    expect(await publish('--skip-invalid')).toMatchObject({ code: 0 });
    expect(steps()).toEqual(['build', 'upload']);
    await holding(join(out, '../.dist-publish/lock'));
    expect(await publish()).toEqual({ code: 75, output: 'publish: another run is at work\n' });
  });

  it('uploads and purges nothing if the build fails, and purges nothing if the upload fails', async () => {
    const { publish, steps, register, purged, uploadEndsWith } = await site();
    await publish();
    purged();
    changeRegister(register, 'DELETE FROM groups');
    const failed = containing('publish: build ended with exit code 1\n');
    expect(await publish()).toEqual({ code: 1, output: failed });
    expect(steps()).toEqual(['check', 'build --keep-downloads']);
    uploadEndsWith(4);
    const output = containing('publish: upload ended with exit code 3\n');
    expect(await publish('--accept-removals')).toEqual({ code: 3, output });
    expect(purged()).toEqual([]);
    // The next run purges what that one has published: so much that it is the tags.
    uploadEndsWith(0);
    expect(await publish()).toEqual(DONE);
    expect(steps()).toEqual(['check', 'build --keep-downloads', 'compare', 'upload']);
    expect(purged()).toContain('group');
  });

  it('keeps the URLs of a purge that failed, or of a run that was killed before, until one purges them all', async () => {
    // Of a bucket, no tags can be purged instead.
    const { publish, register, purged, cdn, out } = await site({ headers: {} });
    await publish();
    cdn.status = 403;
    changeRegister(register, `INSERT INTO withheld VALUES ('group', 2, '2026-11-20T08:00:00Z')`);
    expect(await publish()).toMatchObject({ code: 22 });
    const work = join(out, '../.dist-publish');
    const left = urlsOf(groups(200)).map((url) => `${url}?old`);
    writeFileSync(join(work, 'built'), left.map((url) => `${url}\n`).join(''));
    appendFileSync(join(work, 'urls'), `${BASE}/api/v1/group/78\n`);
    cdn.status = 200;
    purged();
    expect(await publish()).toEqual(DONE);
    const now = purged();
    expect(now).toEqual([...new Set(now)]);
    expect(now).toEqual(expect.arrayContaining([...left, groupUrl(2), groupUrl(78)]));
    expect(now).not.toContain('group');
    expect(readdirSync(work).toSorted()).toEqual(['downloads', 'lock', 'uploaded']);
  });
});

/** Of user and pass"word, as SMTP has it. */
const LOGIN = Buffer.from('\0user\0pass"word').toString('base64');
const REPLIES = [
  ['EHLO', '250-test\r\n250 AUTH PLAIN'],
  ['DATA', '354 go'],
  ['AUTH', '334 '],
  [LOGIN, '235 ok'],
] as const;

/** An SMTP server for one mail. @returns its URL, and what came, commands included */
async function mailbox() {
  let mail = '';
  const server = createServer((socket) => {
    let data: string | undefined;
    socket.write('220 test\r\n');
    socket.setEncoding('utf8').on('data', (text: string) => {
      mail += text;
      if (data !== undefined && !(data += text).endsWith('\r\n.\r\n')) return;
      data = text.startsWith('DATA') ? '' : undefined;
      const [, reply = '250 ok'] = REPLIES.find(([begin]) => text.startsWith(begin)) ?? [];
      socket.write(`${reply}\r\n`);
    });
  });
  const port = await listenOn(server);
  return { url: `smtp://user:pass%22word@127.0.0.1:${port}`, mail: () => mail };
}

/**
 * Reports a failure, with a journal that says what it was asked for and has some text more.
 * @returns how that ended, and the arguments of curl, which everybody on the machine can read
 */
async function report(environment: Readonly<Record<string, string>>, log = '') {
  const bin = newFolder(path('bin'));
  const args = join(bin, 'args');
  writeFileSync(args, '');
  const scripts = {
    journalctl: `echo "$@"\ncat ${bin}/log`,
    curl: `echo "$@" >> ${args}\nPATH=\${PATH#*:} exec curl "$@"`,
  };
  writeFileSync(join(bin, 'log'), log);
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const ended = await run([join(DEPLOY, 'report-failure.sh'), 'register-publish'], {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    ...environment,
  });
  return { ended, args: readFileSync(args, 'utf8') };
}

describe.skipIf(!HAS_TOOLS)('report-failure.sh', () => {
  it('sends mail, and to a webhook', async () => {
    const [hook, { url, mail }] = await Promise.all([record(), mailbox()]);
    const log = `Größe: –\n.\n${'long '.repeat(300)}\nend\n`;
    const environment = {
      ALERT_MAIL_TO: 'you@register.example',
      ALERT_SMTP: url,
      ALERT_WEBHOOK: `${hook.base}/hook?key=pass%22word`,
    };
    const { ended, args } = await report(environment, log);
    expect(ended).toEqual(DONE);
    expect(mail()).toMatch(/RCPT TO:<you@register\.example>[^]*\r\nSubject: register-publish failed on /);
    // Strict servers refuse bare line breaks, long lines, and text of 8 bits that was not announced.
    expect(mail()).not.toMatch(/(?<!\r)\n|\r(?!\n)|[^\r\n]{999}|[^\0-\u007f]/);
    expect(mail()).toContain(LOGIN);
    const [, body = ''] =
      /\r\nContent-Type: text\/plain; charset=utf-8\r\n[^]*?\r\n\r\n([^]*)\r\n\.\r\n/.exec(mail()) ?? [];
    const text = `--unit register-publish --lines 30 --no-pager --output short-iso\n${log}`;
    expect(Buffer.from(body, 'base64').toString()).toBe(text.replaceAll('\n', '\r\n'));
    const [{ request, body: message } = { request: '', body: '' }] = hook.received;
    expect(request).toBe('POST /hook?key=pass%22word');
    const sent = z.object({ text: z.string() }).parse(JSON.parse(message)).text;
    expect(sent).toMatch(/^register-publish failed on /);
    expect(sent.slice(sent.indexOf('\n') + 1)).toBe(text.trimEnd());
    // Whoever knows the URL of a webhook may post to it.
    expect(args.match(/--mail-from|--data-binary/g)).toHaveLength(2);
    expect(args).not.toMatch(/word|hook\?|127\.0\.0\.1/);
  });

  it('tries both, and ends with an error if one fails or neither is set', async () => {
    const hook = await record();
    const refused = { ALERT_MAIL_TO: 'you@register.example', ALERT_SMTP: 'smtp://127.0.0.1:1' };
    const { ended } = await report({ ...refused, ALERT_WEBHOOK: hook.base });
    expect(ended).toMatchObject({ code: 1 });
    expect(hook.received).toHaveLength(1);
    expect((await report({})).ended.code).toBe(2);
  });
});
