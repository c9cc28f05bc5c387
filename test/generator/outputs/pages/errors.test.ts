/** The pages that browsers get instead of the problem documents of 404 and 429. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { published } from '../../../support/build.js';
import { temporary } from '../../../support/folder.js';
import { writeOperator } from '../../../support/operator.js';
import { writeRegister } from '../../../support/register.js';
import { textOf } from './site.js';

const path = temporary();
const out = path('dist');
const page = (file: string, from = out): string => readFileSync(join(from, file), 'utf8');

async function built(to: string, limits?: object): Promise<void> {
  const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1, member_count: 5 }] });
  await published({ register, out: to, operator: writeOperator(path('site'), { limits }) });
}

beforeAll(async () => {
  await built(out);
});

describe('the page of an error', () => {
  it.each(['404.html', '429.html'])('%s is no content of the site, and leads on without a script', (file) => {
    const html = page(file);
    expect(html).toContain('<meta name="robots" content="noindex">');
    expect(html).not.toMatch(/rel="canonical"|og:url/);
    const [, main = ''] = /<main[^>]*>([^]*)<\/main>/.exec(html) ?? [];
    const links = [...main.matchAll(/<a href="([^"]*)"/g)].map(([, url]) => url);
    expect(new Set(links)).toEqual(new Set(['/', '/developers', '/downloads']));
    // It stands for addresses of any depth.
    expect(html).not.toMatch(/(?:href|src)="(?!\/|#|https:|mailto:)/);
    expect(page('sitemap.xml')).not.toContain(`/${file.replace('.html', '')}<`);
  });

  it('of a 429 says how long to wait, by the limits', async () => {
    const text = textOf(page('429.html'));
    expect(text).toContain('Wait a few seconds, then load this page again.');
    expect(text).toContain(
      'Pages and their assets: 240 requests at once per IP address, refilled continuously at about 4 requests per second.',
    );
    const slow = path('slow');
    await built(slow, { page: { tokens: 5, refill_seconds: 29.5 } });
    expect(textOf(page('429.html', slow))).toContain('Wait 30 seconds, then load this page again.');
    const slower = path('slower');
    await built(slower, { api: { tokens: 5, refill_seconds: 60 } });
    expect(textOf(page('429.html', slower))).toContain('Wait 1 minute, then');
  });
});
