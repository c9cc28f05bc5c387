/** The operator's own files: published like everything else, and refused where they can't be. */
import { existsSync, readFileSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { siteFiles } from '../../../generator/config/site-files.js';
import { ROUTES } from '../../../generator/routes/routes.js';
import { OPERATOR, published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { writeFiles, writeOperator, type Files } from '../../support/operator.js';
import { contentOf, changedBy, snapshotOf, sha256, stateOf } from '../../support/published.js';
import { writeRegister } from '../../support/register.js';
import { ROWS } from '../../support/site.js';
import { namesThatDiffer } from '../../support/tree.js';
import { containing } from '../../support/values.js';
import { damageOf, expectAtRest } from '../publish/support.js';

const path = temporary();

/** Every byte, so that no decoder leaves it as it is. */
const PNG = Buffer.from(Array.from({ length: 256 * 20 }, (_, index) => (index * 7) % 256));

const FILES: Files = {
  'privacy.html': `<p>${'what we keep, '.repeat(400)}</p>`,
  'google0123.html': 'google-site-verification: google0123.html',
  'brand/logo.png': PNG,
  'brand/press~kit_2.v1.PDF': PNG,
  empty: '',
  'feeds/about.txt': 'in a folder of ours',
  'about/more/imprint.txt': 'in folders of their own',
};

function site(files = FILES, key = 'site') {
  const root = path('root');
  const operator = writeOperator(root, { files: key }, files);
  const register = writeRegister(path('register.sqlite'), ROWS);
  return { register, out: join(root, 'dist'), operator, folder: join(root, 'site') };
}
type Site = ReturnType<typeof site>;

const command = (name: string, { register, out, operator }: Site, ...more: string[]) =>
  inProcess(name, '--register', register, '--out', out, '--operator', operator, ...more);

/** They take the place of files of ours, but for the last. */
const IN_PLACE = {
  'index.html': '<!doctype html><title>Cluborama</title><a href="/group">clubs</a>',
  'robots.txt': 'User-agent: *\nAllow: /\n',
  '.well-known/assetlinks.json': '[]',
};

const made = site();
await published(made);

describe('the operator’s own files', () => {
  it('are published at their own paths, as they are, along with what is published anyway', async () => {
    const content = contentOf(made.out);
    for (const [file, body] of Object.entries(FILES)) expect(content[file], file).toBe(sha256(body));
    const { routes } = snapshotOf(made.out);
    const types: Record<string, string> = {
      png: 'image/png',
      PDF: 'application/pdf',
      empty: 'application/octet-stream',
      html: 'text/html; charset=utf-8',
      txt: 'text/plain; charset=utf-8',
    };
    const own = Object.keys(FILES).toSorted();
    expect(routes.slice(ROUTES.length)).toMatchObject(
      own.map((file) => {
        return {
          path: `/${file}`,
          file,
          class: 'page',
          bucket: 'page',
          type: types[file.split('.').at(-1) ?? ''],
        };
      }),
    );
  });

  it('are compared, also by diff: a build writes those that changed, and nothing else', async () => {
    const before = stateOf(made.out);
    expect((await command('diff', made)).stdout).toContain('A build would change nothing');
    writeFiles(made.folder, { 'google0123.html': 'another', 'new.txt': 'new' });
    rmSync(join(made.folder, 'brand'), { recursive: true });
    // What is published is no link into their folder.
    expect(namesThatDiffer(stateOf(made.out), before).filter((file) => file in FILES)).toEqual([]);
    const { stdout } = await command('diff', made, '--details');
    for (const line of ['added /new.txt', 'changed /google0123.html', 'removed /brand/logo.png'])
      expect(stdout).toContain(`  ${line}\n`);
    expect((await published(made)).changes).toMatchObject({ added: 1, removed: 2 });
    expect(existsSync(join(made.out, 'brand'))).toBe(false);
    expect(changedBy(made.out, 2).delete).toEqual(['/brand/logo.png', '/brand/press~kit_2.v1.PDF']);
    await expectAtRest(made.out);
  });

  it('may be a front page and a robots.txt, which come and go with them, as diff sees', async () => {
    const [before, { routes }] = [contentOf(made.out), snapshotOf(made.out)];
    writeFiles(made.folder, IN_PLACE);
    const { stdout } = await command('diff', made, '--json');
    const counted = { 'front-page': { changed: 1 }, robots: { changed: 1 } };
    expect(JSON.parse(stdout)).toMatchObject({ by_route: counted });
    await published(made);
    const bodies = Object.keys(IN_PLACE).map((file) => readFileSync(join(made.out, file), 'utf8'));
    expect(bodies).toEqual(Object.values(IN_PLACE));
    // Those of ours, and one for the file that has no counterpart.
    expect(snapshotOf(made.out).routes).toEqual(expect.arrayContaining(routes));
    for (const file of Object.keys(IN_PLACE)) rmSync(join(made.folder, file));
    await published(made);
    expect(contentOf(made.out)).toEqual(before);
    expect(await damageOf(made.out)).toEqual([]);
  });
});

const refused = async (made: Site): Promise<string> => {
  const { code, stderr } = await command('build', made);
  expect([code, existsSync(made.out)]).toEqual([2, false]);
  return stderr;
};

describe('a folder of the operator’s files is refused with exit 2', () => {
  it('with everything that is wrong, by name', async () => {
    const long = `${'long/'.repeat(15)}index.html`;
    const files =
      `ok.txt|.well-known/.hidden|.well-known/security.txt|.well-known/api-catalog|sub/.env|sub/.well-known/x|` +
      `with space.html|ümlaut.html|a+b/c.html|a.css|a.css.gz|large|${long}`;
    const made = site(Object.fromEntries(files.split('|').map((file) => [file, ''])));
    truncateSync(join(made.folder, 'large'), 10 * 1024 * 1024 + 1);
    symlinkSync('ok.txt', join(made.folder, 'link.txt'));
    symlinkSync('sub', join(made.folder, 'linked'));
    const message = await refused(made);
    const named = [...message.matchAll(/^ {2}"(.*?)" (.*)$/gm)].map(([, file = '', why]) => {
      return [file.slice(made.folder.length + 1), why] as const;
    });
    const name = containing('has characters other than');
    const link = 'is a symbolic link, expected a file';
    expect(Object.fromEntries(named)).toEqual({
      '.well-known/.hidden': containing('is hidden'),
      'sub/.env': containing('is hidden'),
      'sub/.well-known': 'is hidden, expected a name without a leading dot, or the folder ".well-known"',
      '.well-known/security.txt':
        'collides with /.well-known/security.txt (made from "contact" of the operator file)',
      '.well-known/api-catalog':
        'collides with /.well-known/api-catalog (made from "base_url" and "licence" of the operator file)',
      'with space.html': name,
      'ümlaut.html': name,
      'a+b': name,
      'a.css.gz': 'collides with the compressed form of "a.css"',
      [long]: 'has a path of 85 characters, expected at most 80',
      large: 'has 10485761 bytes, expected at most 10485760',
      'link.txt': link,
      linked: link,
    });
  });

  it.each([
    ['index.html.gz', '/ '],
    ['404.html', '/404 (What a browser gets instead of the problem document of a 404)'],
    ['snapshot.json', '/snapshot.json'],
    ['api/v1/group/7', '/api/v1/group/{id}'],
    ['api/v1/group/x.json', '/api/v1/group/{id}'],
    // A file where a folder of ours is, and a folder where a file of ours is.
    ['api', '/api/v1'],
    ['group/7', '/group/{id}/history.json'],
    ['favicon.svg/x', '/favicon.svg'],
    ['downloads/items.csv.br', '/downloads/items.csv'],
    ['openapi.json', '/openapi.json, which leads to /api/v1/openapi.json'],
  ])('for %s, which collides with %s', (file, url) => {
    const folder = path('folder');
    writeFiles(folder, { [file]: '' });
    expect(() => siteFiles(folder)).toThrow(`"${join(folder, file)}" collides with ${url}`);
  });

  it('for a text that is not UTF-8, as its response says', () => {
    const folder = path('folder');
    const latin1 = Buffer.from('<p>\nCafé', 'latin1');
    const texts = ['imprint.html', 'robots.txt', 'a.css', 'logo.svg', 'a.json', 'a.md'];
    // XML has no charset in its header, and says itself what it is.
    const others = ['photo.png', 'a.xml', 'empty'];
    writeFiles(folder, Object.fromEntries([...texts, ...others].map((file) => [file, latin1])));
    const problem = 'is not UTF-8 at line 2, column 4 (byte 0xe9), expected a text that is saved as UTF-8';
    const lines = texts.toSorted().map((file) => `\n  "${join(folder, file)}" ${problem}`);
    expect(() => siteFiles(folder)).toThrow(lines.join(''));
    for (const file of texts) rmSync(join(folder, file));
    expect(siteFiles(folder)).toHaveLength(others.length);
  });

  it('for more than 200 files', () => {
    const folder = path('folder');
    writeFiles(folder, Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`${index}.txt`, ''])));
    expect(() => siteFiles(folder)).toThrow('there are more than 200 files');
    rmSync(join(folder, '7.txt'));
    expect(siteFiles(folder)).toHaveLength(200);
  });

  it('if it holds an input, or lies in the tree', async () => {
    const holding = site({}, '.');
    expect(await refused(holding)).toContain(`"${holding.operator}" lies in the folder`);
    const made = site({});
    const register = writeRegister(join(made.folder, 'register.sqlite'), ROWS);
    expect(await refused({ ...made, register })).toContain(`"${register}" lies in the folder`);
    const tree = site({}, 'dist');
    await published({ ...tree, operator: OPERATOR });
    expect((await command('build', tree)).code).toBe(2);
    writeFiles(join(tree.out, 'inside'), {});
    const inside = site({}, join(tree.out, 'inside'));
    const said = containing(`lies inside the output folder "${tree.out}", which is published`);
    expect(await command('build', { ...inside, out: tree.out })).toMatchObject({ code: 2, stderr: said });
  });

  it('but with exit 3 if it does not exist', async () => {
    const made = site({}, 'none');
    const folder = join(dirname(made.operator), 'none');
    const stderr = `error: folder "${folder}" (files of the operator file) does not exist\n`;
    expect(await command('build', made)).toMatchObject({ code: 3, stderr });
  });
});
