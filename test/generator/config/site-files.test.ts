/** The operator's own files: published like everything else, and refused where they can't be. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { it, thorough } from '../../support/thorough.js';
import { z } from 'zod';
import { ROUTES } from '../../../generator/routes/index.js';
import { siteFiles } from '../../../generator/config/site-files.js';
import { OPERATOR, counted, published } from '../../support/build.js';
import { startProxy } from '../../support/proxy.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { DOCUMENTATION_FILES } from '../outputs/pages/site.js';
import { differing, inState, namesThatDiffer } from '../../support/tree.js';
import { containing, fields } from '../../support/values.js';
import {
  ROWS,
  buildWith,
  contentOf,
  damageOf,
  digestOf,
  expectAtRest,
  inProcess,
  listOf,
  manifestOf,
  mirrorOf,
  sha256,
  stateOf,
  temporary,
} from '../publish/support.js';

const path = temporary();

/** Every byte, so that no decoder leaves it as it is. */
const PNG = Buffer.from(Array.from({ length: 256 * 20 }, (_, index) => (index * 7) % 256));

/** The pages of records. */
const SHELLS = ['game', 'group', 'item', 'user'].flatMap((kind) =>
  ['', '.br', '.gz'].map((suffix) => `${kind}.html${suffix}`),
);
/** The download that holds the operator's files, with all other documents, and what names its checksum. */
const HOLDING = ['documents/other.ndjson.gz', 'datapackage.json', 'SHA256SUMS', 'README.txt'].map(
  (name) => `downloads/${name}`,
);
/** The pages that name it. */
const NAMING = ['downloads.html', 'index.html'].flatMap((page) => [page, `${page}.br`, `${page}.gz`]);

const FILES: Readonly<Record<string, string | Buffer>> = {
  'privacy.html': `<p>${'what we keep, '.repeat(400)}</p>`,
  'google0123.html': 'google-site-verification: google0123.html',
  'brand/logo.png': PNG,
  'brand/press~kit_2.v1.PDF': PNG,
  empty: '',
  'feeds/about.txt': 'in a folder of ours',
  'log/about.txt': 'where a signed tree has its log',
  'log/more/about.txt': 'there, too',
};

interface Site {
  readonly register: string;
  readonly out: string;
  readonly operator: string;
  /** The folder of the operator's files. */
  readonly folder: string;
}

function put(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
}

/** An operator file that names a folder next to it. */
function site(files = FILES, key = 'site'): Site {
  const root = path('root');
  mkdirSync(join(root, 'site'), { recursive: true });
  const operator = join(root, 'operator.json');
  writeFileSync(
    operator,
    JSON.stringify({ ...fields(JSON.parse(readFileSync(OPERATOR, 'utf8'))), files: key }),
  );
  put(join(root, 'site'), files);
  const register = writeRegister(path('register.sqlite'), ROWS);
  return { register, out: join(root, 'dist'), operator, folder: join(root, 'site') };
}

const withoutFiles = async (): Promise<Record<string, string>> => {
  const made = site({});
  await published(made);
  return contentOf(made.out);
};

const command = (name: string, { register, out, operator }: Site, ...more: string[]) =>
  inProcess(name, '--register', register, '--out', out, '--operator', operator, ...more);

const routeSchema = z.looseObject({
  path: z.string(),
  file: z.string(),
  class: z.string(),
  type: z.string(),
});

describe('the operator’s own files', () => {
  it('are published at their own paths, as they are, along with what is published anyway', async () => {
    const made = site();
    await published(made);
    const content = contentOf(made.out);
    for (const [file, body] of Object.entries(FILES)) expect(content[file], file).toBe(sha256(body));
    const siblings = ['privacy.html', 'brand/logo.png', 'brand/press~kit_2.v1.PDF'].flatMap((file) => [
      `${file}.br`,
      `${file}.gz`,
    ]);
    expect(namesThatDiffer(content, await withoutFiles()).toSorted()).toEqual(
      // Every page links to privacy.html.
      [
        ...Object.keys(FILES),
        ...siblings,
        ...HOLDING,
        ...['', '.br', '.gz'].flatMap((suffix) =>
          [...DOCUMENTATION_FILES, 'downloads.html'].map((file) => file + suffix),
        ),
        ...['', '.br', '.gz'].flatMap((suffix) => [`feeds.html${suffix}`, `index.html${suffix}`]),
        ...SHELLS,
        ...['', '.br', '.gz'].flatMap((suffix) => [`404.html${suffix}`, `429.html${suffix}`]),
      ].toSorted(),
    );
    const { routes, digest } = manifestOf(made.out);
    const added = routes.slice(ROUTES.length).map((route) => routeSchema.parse(route));
    expect(
      added.map(({ path: url, file, class: its, bucket, type }) => [url, file, its, bucket, type]),
    ).toEqual(
      [
        ['brand/logo.png', 'image/png'],
        ['brand/press~kit_2.v1.PDF', 'application/pdf'],
        ['empty', 'application/octet-stream'],
        ['feeds/about.txt', 'text/plain; charset=utf-8'],
        ['google0123.html', 'text/html; charset=utf-8'],
        ['log/about.txt', 'text/plain; charset=utf-8'],
        ['log/more/about.txt', 'text/plain; charset=utf-8'],
        ['privacy.html', 'text/html; charset=utf-8'],
      ].map(([file, type]) => [`/${file}`, file, 'page', 'page', type]),
    );
    expect(digest).toBe(digestOf(mirrorOf(made.out), routes));
    await expectAtRest(made.out);
  });

  it('are served as pages are, with the type of their extension', async () => {
    const made = site();
    await published(made);
    const proxy = await startProxy(made.out);
    try {
      const page = await proxy.get('/privacy.html', { headers: { 'accept-encoding': 'br' } });
      expect([page.status, page.headers.get('content-encoding'), await page.text()]).toEqual([
        200,
        'br',
        FILES['privacy.html'],
      ]);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
      expect(page.headers.get('cache-control')).toContain('max-age=300');
      expect(page.headers.get('ratelimit-policy')).toContain('"page"');
      const image = await proxy.get('/brand/logo.png');
      expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);
      expect(Buffer.from(await image.arrayBuffer()).equals(PNG)).toBe(true);
      expect((await proxy.get('/empty')).status).toBe(200);
      expect((await proxy.get('/privacy')).status).toBe(404);
    } finally {
      await proxy.stop();
    }
  });

  it('are compared: a build writes those that changed, and has nothing else rendered', async () => {
    const made = site();
    await published(made);
    const before = stateOf(made.out);
    const same = await counted(made);
    expect(same.changes).toMatchObject({ added: 0, changed: 0, removed: 0 });
    expect(namesThatDiffer(stateOf(made.out), before)).toEqual(
      expect.not.arrayContaining(Object.keys(FILES)),
    );
    put(made.folder, { 'google0123.html': 'another', 'new.txt': 'new' });
    rmSync(join(made.folder, 'brand'), { recursive: true });
    const after = await counted(made);
    expect(after.rendered).toBe(same.rendered);
    expect(after.changes).toMatchObject({ added: 1, changed: 1 + HOLDING.length + 2, removed: 2 });
    const touched = namesThatDiffer(stateOf(made.out), before);
    expect(touched.filter((file) => !/^(snapshot|changes|feeds\/snapshots)/.test(file)).toSorted()).toEqual(
      [
        ...['', '.br', '.gz'].map((suffix) => `brand/logo.png${suffix}`),
        ...['', '.br', '.gz'].map((suffix) => `brand/press~kit_2.v1.PDF${suffix}`),
        ...HOLDING,
        ...NAMING,
        'google0123.html',
        'new.txt',
      ].toSorted(),
    );
    expect(existsSync(join(made.out, 'brand'))).toBe(false);
    const { put: puts, delete: gone } = listOf(made.out, 2);
    expect([puts.map((each) => each.path).toSorted(), gone.toSorted()]).toEqual([
      ['/', '/downloads', ...HOLDING.map((file) => `/${file}`), '/google0123.html', '/new.txt'].toSorted(),
      ['/brand/logo.png', '/brand/press~kit_2.v1.PDF'],
    ]);
    await expectAtRest(made.out);
  });

  thorough('are on the lists for copies and CDNs', async () => {
    const made = site();
    const lists = Object.fromEntries(
      ['purge-list', 'files-from', 'delete-from'].map((name) => [name, path(name)]),
    );
    const options = Object.entries(lists).flatMap(([name, file]) => [`--${name}`, file]);
    expect((await command('build', made, ...options)).code).toBe(0);
    rmSync(join(made.folder, 'empty'));
    put(made.folder, { 'google0123.html': 'another' });
    expect((await command('build', made, ...options)).code).toBe(0);
    const lines = (name: string) => readFileSync(lists[name] ?? '', 'utf8').split('\n');
    expect(lines('files-from')).toContain('google0123.html');
    expect(lines('delete-from')).toContain('empty');
    expect(lines('purge-list')).toEqual(
      expect.arrayContaining([
        'https://api.golden.example/google0123.html',
        'https://api.golden.example/empty',
      ]),
    );
  });

  thorough('are rolled back and forward with everything else', async () => {
    const made = site();
    await published(made);
    const first = contentOf(made.out);
    put(made.folder, { 'google0123.html': 'another', 'new.txt': 'new' });
    rmSync(join(made.folder, 'brand'), { recursive: true });
    await published(made);
    const second = contentOf(made.out);
    for (const content of [first, second]) {
      expect((await inProcess('rollback', '--out', made.out)).code).toBe(0);
      expect(differing(contentOf(made.out), content)).toEqual([]);
      expect(await damageOf(made.out)).toEqual([]);
    }
    await inProcess('rollback', '--out', made.out);
    await published(made);
    expect(differing(contentOf(made.out), second)).toEqual([]);
  });

  thorough('are gone, all of them, if the operator file names no folder any more', async () => {
    const made = site();
    await published(made);
    await buildWith({ register: made.register, out: made.out });
    expect(differing(contentOf(made.out), await withoutFiles())).toEqual([]);
    await expectAtRest(made.out);
  });

  thorough('are mended by a repair', async () => {
    const made = site();
    await published(made);
    const content = contentOf(made.out);
    rmSync(join(made.out, 'empty'));
    truncateSync(join(made.out, 'privacy.html.br'), 10);
    writeFileSync(join(made.out, 'brand/logo.png'), 'x');
    writeFileSync(join(made.out, 'google0123.html.gz'), 'x');
    expect(await damageOf(made.out)).toEqual([
      { file: 'brand/logo.png', what: 'altered' },
      { file: 'empty', what: 'missing' },
      { file: 'google0123.html.gz', what: 'extra' },
      { file: 'privacy.html.br', what: 'altered' },
    ]);
    expect((await command('verify', made, '--repair')).code).toBe(0);
    expect(differing(contentOf(made.out), content)).toEqual([]);
    await expectAtRest(made.out);
  });

  thorough('survive the loss of the state', async () => {
    const made = site();
    await published(made);
    const before = stateOf(made.out);
    rmSync(inState(made.out), { recursive: true });
    put(made.folder, { 'google0123.html': 'another' });
    await published(made);
    const touched = namesThatDiffer(stateOf(made.out), before);
    expect(touched.filter((file) => file in FILES)).toEqual(['google0123.html']);
    await expectAtRest(made.out);
  });

  it('are compared by diff', async () => {
    const made = site();
    await published(made);
    expect((await command('diff', made)).stdout).toContain('A build would change nothing');
    put(made.folder, { 'google0123.html': 'another', 'new.txt': 'new' });
    rmSync(join(made.folder, 'empty'));
    const { stdout } = await command('diff', made);
    for (const line of ['added /new.txt', 'changed /google0123.html', 'removed /empty'])
      expect(stdout).toContain(`  ${line}\n`);
  });

  it('are linked from every page if they are the imprint or the privacy notice', async () => {
    const made = site({ 'imprint.html': '', 'legal/privacy.html': '' });
    await published(made);
    for (const file of ['index.html', 'developers.html', 'downloads.html', 'feeds.html']) {
      const html = readFileSync(join(made.out, file), 'utf8');
      expect(html).toContain('<a href="/imprint.html">Imprint</a>');
      expect(html).not.toContain('privacy.html');
    }
  });

  it('are published without a link into their folder: a later edit changes nothing that is published', async () => {
    const made = site();
    await published(made);
    writeFileSync(join(made.folder, 'google0123.html'), 'edited in place');
    expect(readFileSync(join(made.out, 'google0123.html'), 'utf8')).toBe(FILES['google0123.html']);
  });
});

/** What a build says that ends with exit code 2 and publishes nothing. */
const refused = async (made: Site): Promise<string> => {
  const { code, stderr } = await command('build', made);
  expect([code, existsSync(made.out)]).toEqual([2, false]);
  return stderr;
};

describe('a folder of the operator’s files is refused with exit 2', () => {
  it('with everything that is wrong, by name', async () => {
    const made = site({
      'ok.txt': '',
      '.well-known/.hidden': '',
      '.well-known/security.txt': '',
      '.well-known/api-catalog': '',
      'sub/.env': '',
      'sub/.well-known/x': '',
      'with space.html': '',
      'ümlaut.html': '',
      'a+b/c.html': '',
      'a.css': '',
      'a.css.gz': '',
      [`${'long/'.repeat(15)}index.html`]: '',
      large: '',
    });
    truncateSync(join(made.folder, 'large'), 10 * 1024 * 1024 + 1);
    symlinkSync('ok.txt', join(made.folder, 'link.txt'));
    symlinkSync('sub', join(made.folder, 'linked'));
    const message = await refused(made);
    const named = [...message.matchAll(/^ {2}"(.*?)" (.*)$/gm)].map(([, file = '', why = '']) => [
      file.slice(made.folder.length + 1),
      why,
    ]);
    const name = containing('has characters other than');
    const link = 'is a symbolic link, expected a file';
    expect(new Map(named.map(([file = '', why]) => [file, why]))).toEqual(
      new Map<string, unknown>([
        ['.well-known/.hidden', containing('is hidden')],
        ['sub/.env', containing('is hidden')],
        ['sub/.well-known', 'is hidden, expected a name without a leading dot, or the folder ".well-known"'],
        [
          '.well-known/security.txt',
          'collides with /.well-known/security.txt (made from "contact" of the operator file)',
        ],
        [
          '.well-known/api-catalog',
          'collides with /.well-known/api-catalog (made from "base_url" and "licence" of the operator file)',
        ],
        ['with space.html', name],
        ['ümlaut.html', name],
        ['a+b', name],
        ['a.css.gz', 'collides with the compressed form of "a.css"'],
        [`${'long/'.repeat(15)}index.html`, 'has a path of 85 characters, expected at most 80'],
        ['large', 'has 10485761 bytes, expected at most 10485760'],
        ['link.txt', link],
        ['linked', link],
      ]),
    );
  });

  it.each([
    ['index.html.gz', '/ '],
    ['robots.txt/x', '/robots.txt'],
    ['404.html', '/404'],
    ['developers', '/developers'],
    ['developers.html', '/developers'],
    ['developers.html.br', '/developers'],
    ['snapshot.json', '/snapshot.json'],
    ['changes/5.json', '/changes/'],
    ['api/v1/group/7', '/api/v1/group/{id}'],
    ['api/v1/group/x.json', '/api/v1/group/{id}'],
    ['api/v1/largest/7.json', '/api/v1/largest'],
    ['group/7/history.json', '/group/{id}/history.json'],
    // A file where a folder of ours is, and a folder where a file of ours is.
    ['api', '/api/v1'],
    ['group/7', '/group/{id}/history.json'],
    ['favicon.svg/x', '/favicon.svg'],
    ['feeds/groups/2026-11.atom', '/feeds/groups/{month}.atom'],
    ['downloads/items.csv.br', '/downloads/items.csv'],
    ['group.html', '/group'],
    ['game/7', '/game/{id}'],
    ['docs', '/docs, which leads to /developers'],
    ['openapi.json', '/openapi.json, which leads to /api/v1/openapi.json'],
  ])('for %s, which collides with %s', async (file, url) => {
    const made = site({ [file]: '' });
    expect(await refused(made)).toContain(`"${join(made.folder, file)}" collides with ${url}`);
  });

  it('for too many files', async () => {
    const made = site(Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`${index}.txt`, ''])));
    expect(await refused(made)).toContain('there are more than 200 files');
    rmSync(join(made.folder, '7.txt'));
    await published(made);
    await expectAtRest(made.out);
  });

  it('if it holds an input, or lies in the tree', async () => {
    const holding = site({}, '.');
    expect(await refused(holding)).toContain(`"${holding.operator}" lies in the folder`);
    const made = site({});
    const register = join(made.folder, 'register.sqlite');
    cpSync(made.register, register);
    expect(await refused({ ...made, register })).toContain(`"${register}" lies in the folder`);
    const tree = site({}, 'dist');
    await published({ ...tree, operator: OPERATOR });
    expect((await command('build', tree)).code).toBe(2);
    mkdirSync(join(tree.out, 'inside'));
    const inside = site({}, join(tree.out, 'inside'));
    expect(await command('build', { ...inside, out: tree.out })).toMatchObject({
      code: 2,
      stderr: containing('lies inside the output folder'),
    });
  });

  it('but with exit 3 if it does not exist', async () => {
    const made = site({}, 'none');
    const { code, stderr } = await command('build', made);
    const folder = join(dirname(made.operator), 'none');
    const message = `error: folder "${folder}" (files of the operator file) does not exist\n`;
    expect([code, stderr]).toEqual([3, message]);
  });
});

/** Our routes of a front page and a robots.txt. */
const ours = (out: string) =>
  manifestOf(out)
    .routes.map((route) => routeSchema.parse(route))
    .filter(({ path: url }) => url === '/' || url === '/robots.txt');

describe('a front page and a robots.txt of one’s own', () => {
  const OWN = {
    'index.html': '<!doctype html><title>Cluborama</title><a href="/group">clubs</a>',
    'robots.txt': 'User-agent: *\nAllow: /\n',
    '.well-known/assetlinks.json': '[]',
  };
  const bodies = (out: string): string[] =>
    Object.keys(OWN).map((file) => readFileSync(join(out, file), 'utf8'));

  it('take the place of ours, with its route and headers', async () => {
    const [made, plain] = [site(OWN), site({})];
    await published(made);
    await published(plain);
    expect(bodies(made.out)).toEqual(Object.values(OWN));
    expect(ours(made.out)).toEqual(ours(plain.out));
    expect(ours(made.out)).toHaveLength(2);
    const { routes, digest } = manifestOf(made.out);
    expect(digest).toBe(digestOf(mirrorOf(made.out), routes));
    await expectAtRest(made.out);
    const proxies = [await startProxy(made.out), await startProxy(plain.out)] as const;
    try {
      for (const [index, url] of ['/', '/robots.txt', '/.well-known/assetlinks.json'].entries()) {
        const response = await proxies[0].get(url);
        expect([response.status, await response.text()]).toEqual([200, Object.values(OWN)[index]]);
        if (index === 2) continue;
        const before = await proxies[1].get(url);
        for (const name of ['content-type', 'cache-control', 'content-security-policy'])
          expect(response.headers.get(name), url).toBe(before.headers.get(name));
      }
    } finally {
      for (const proxy of proxies) await proxy.stop();
    }
  });

  thorough('come and go with the files, and diff sees what they change', async () => {
    const made = site({});
    await published(made);
    const before = contentOf(made.out);
    put(made.folder, OWN);
    const changed = JSON.parse((await command('diff', made, '--json')).stdout) as unknown;
    expect(changed).toMatchObject({
      by_route: { 'front-page': { changed: 1 }, robots: { changed: 1 } },
    });
    await published(made);
    expect(bodies(made.out)).toEqual(Object.values(OWN));
    const same = JSON.parse((await command('diff', made, '--json')).stdout) as unknown;
    expect(same).toMatchObject({ changes: { added: 0, changed: 0, removed: 0 } });
    for (const file of Object.keys(OWN)) rmSync(join(made.folder, file));
    await published(made);
    expect(contentOf(made.out)).toEqual(before);
    expect(await damageOf(made.out)).toEqual([]);
  });
});

it('a file in the place of a signed log is refused, if there is one', () => {
  const folder = path('with-log');
  mkdirSync(join(folder, 'log/efd62e2505583bf5/tile/0'), { recursive: true });
  writeFileSync(join(folder, 'log/efd62e2505583bf5/tile/0/000'), 'x');
  expect(siteFiles(folder)).toHaveLength(1);
  expect(() => siteFiles(folder, { files: [], isSigned: true })).toThrow(
    'collides with /log/{tree}/tile/{path}',
  );
});

it('no route of ours has the prefix of theirs', () => {
  expect(ROUTES.filter(({ name }) => name.startsWith('file-'))).toEqual([]);
});

it('a register that changes leaves the operator’s files alone', async () => {
  const made = site();
  await published(made);
  const before = stateOf(made.out);
  changeRegister(made.register, 'UPDATE items SET price = 7 WHERE id = 1');
  await published(made);
  const touched = namesThatDiffer(stateOf(made.out), before);
  expect(touched.filter((file) => file in FILES)).toEqual([]);
  await expectAtRest(made.out);
});
