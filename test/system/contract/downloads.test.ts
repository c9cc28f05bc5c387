/** The bulk downloads as their users get them: from the real generator, through the real proxy. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect } from 'vitest';
import { it, thorough } from '../../support/thorough.js';
import { z } from 'zod';
import { snapshot } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { has } from '../../support/programs.js';
import { startProxy } from '../../support/proxy.js';
import type { RunningProxy } from '../../support/proxy.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
let proxy: RunningProxy | undefined;

afterEach(async () => {
  await proxy?.stop();
  proxy = undefined;
});

interface Site extends RunningProxy {
  readonly out: string;
  /** Changes the register and publishes it. */
  readonly change: (sql: string) => Promise<void>;
}

async function site(options: readonly string[] = []): Promise<Site> {
  const register = writeRegister(path('register.sqlite'), {
    items: Array.from({ length: 50 }, (_, index) => ({ id: index + 1, name: `item ${index + 1}`, price: 1 })),
  });
  const out = path('dist');
  const build = async (): Promise<void> => {
    const { code, stderr } = await snapshot(['build', '--register', register, '--out', out, '--quiet']);
    if (code !== 0) throw new Error(`the build ended with ${code}: ${stderr}`);
  };
  await build();
  proxy = await startProxy(out, options);
  const change = async (sql: string): Promise<void> => {
    changeRegister(register, sql);
    await build();
  };
  return { ...proxy, out, change };
}

const MANY = ['--download-tokens', '1000'];
const routesOf = z.object({
  routes: z.array(z.object({ path: z.string(), file: z.string(), bucket: z.string(), type: z.string() })),
});

/** The files below a folder, by their path in it. */
const files = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length))
    .toSorted();

describe.skipIf(!has('the recipe for every file', 'curl'))('README.txt', () => {
  thorough(
    'has a recipe that fetches every file, what has changed alone, and its time by the limit',
    async () => {
      const { out, base, change } = await site(MANY);
      const readme = readFileSync(join(out, 'downloads/README.txt'), 'utf8');
      const text = readme.replaceAll(/\s+/g, ' ');
      expect(text).toContain('12 downloads at once for each IP address, and one more every minute.');
      expect(text).toContain('A file of less than 4 MiB counts as its share of that,');
      // Small ones cost so little that nobody waits.
      expect(text).toContain('every file, 32 downloads. Run it');
      const [recipe = ''] = /^ {4}curl -f -O \S+SHA256SUMS\n(?: {4}.*\n)+/m.exec(readme) ?? [];
      const [, url = ''] = /(\S+)\/downloads\/SHA256SUMS/.exec(recipe) ?? [];
      const cwd = path('files');
      mkdirSync(cwd);
      const fetched = async (): Promise<string[]> => {
        const lines = recipe.replaceAll(url, base).replaceAll('curl ', "curl -sS -w '%{url}\\n' ");
        const { stdout } = await promisify(execFile)('sh', ['-ec', lines], { cwd });
        return stdout.trimEnd().split('\n');
      };
      // The list itself, and what it names.
      expect(await fetched()).toHaveLength(1 + 34);
      expect(files(cwd)).toEqual(files(join(out, 'downloads')));
      expect(await fetched()).toEqual([`${base}/downloads/SHA256SUMS`]);
      await change('UPDATE items SET price = 2');
      let again = await fetched();
      // The proxy notices a new snapshot within a second.
      for (let tries = 0; tries < 50 && again.length === 1; tries += 1) again = await fetched();
      expect(again).toContain(`${base}/downloads/items.csv`);
      expect(again).not.toContain(`${base}/downloads/groups.csv`);
    },
  );
});

describe('a download', () => {
  it('is sent as a file with a dated name, whole and exact, in all 32 cases', async () => {
    const { get, out } = await site(MANY);
    const { routes } = routesOf.parse(JSON.parse(readFileSync(join(out, 'snapshot.json'), 'utf8')));
    const downloads = routes.filter(
      (route) => route.bucket === 'download' && route.path.startsWith('/downloads/'),
    );
    expect(downloads).toHaveLength(32);
    for (const { path: url, file, type } of downloads) {
      const answer = await get(url, { headers: { 'Accept-Encoding': 'gzip, br' } });
      expect(answer.status, url).toBe(200);
      const { headers } = answer;
      const dated = url.replace(/^\/downloads\/(documents\/)?([\w-]+)/, '$2-2026-11-20');
      expect(headers.get('content-disposition')).toBe(`attachment; filename="${dated}"`);
      expect(headers.get('content-type')).toBe(type);
      expect(headers.get('content-encoding')).toBeNull();
      expect(headers.get('vary')).toBeNull();
      expect(headers.get('cache-control')).toBe('public, max-age=3600, stale-if-error=86400');
      expect(headers.get('ratelimit-policy')).toMatch(/^"download";q=1000;w=60000, "api";/);
      expect(headers.get('access-control-expose-headers')).toContain('Content-Disposition');
      const body = Buffer.from(await answer.arrayBuffer());
      expect(body.equals(readFileSync(join(out, file))), url).toBe(true);
      const head = await get(url, { method: 'HEAD' });
      expect(head.headers.get('content-length')).toBe(String(body.length));
      expect(head.headers.get('content-disposition')).toBe(headers.get('content-disposition'));
    }
  });

  it('that was interrupted and replaced meanwhile is sent whole, never mixed', async () => {
    const { get, out, change } = await site(MANY);
    const first = await get('/downloads/items.csv', { headers: { Range: 'bytes=0-999' } });
    const etag = first.headers.get('etag') ?? '';
    await change('UPDATE items SET price = 2');
    // The proxy notices a new snapshot within a second.
    const headers = { Range: 'bytes=1000-', 'If-Range': etag };
    const deadline = performance.now() + 5000;
    let answer = await get('/downloads/items.csv', { headers });
    while (answer.status === 206 && performance.now() < deadline) {
      expect(answer.headers.get('etag')).toBe(etag);
      await answer.arrayBuffer();
      // Each asking costs one of twelve downloads.
      await sleep(500);
      answer = await get('/downloads/items.csv', { headers });
    }
    expect(answer.status).toBe(200);
    const body = Buffer.from(await answer.arrayBuffer());
    expect(body.equals(readFileSync(join(out, 'downloads/items.csv')))).toBe(true);
    const sums = await (await get('/downloads/SHA256SUMS')).text();
    expect(sums).toContain(`${createHash('sha256').update(body).digest('hex')}  items.csv\n`);
  });
});
