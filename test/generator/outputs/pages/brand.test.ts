/** What operator.json says about the look of the pages: accent, logo, links to imprint and privacy notice. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PAPER } from '../../../../generator/config/accent.js';
import { buildConfig } from '../../../../generator/config/config.js';
import { inProcess } from '../../../support/in-process.js';
import { digestOf, snapshotOf, mirrorOf } from '../../../support/published.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { writeOperator, type Files } from '../../../support/operator.js';
import { writeRegister } from '../../../support/register.js';
import { containing } from '../../../support/values.js';

const path = temporary();
const PAGES = ['index.html', 'developers.html', 'downloads.html', 'feeds.html'];

/** 60 by 20 pixels; no more than what says so. */
const PNG = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
  Buffer.from('IHDR'),
  Buffer.from([0, 0, 0, 60, 0, 0, 0, 20, 8, 6, 0, 0, 0]),
]);
const svg = (attributes: string): string =>
  `<?xml version="1.0"?>\n<!-- <svg> -->\n<svg xmlns="http://www.w3.org/2000/svg" ${attributes}><rect x="1" width="3" height="9"/></svg>`;

const register = writeRegister(path('register.sqlite'), { groups: [{ id: 1, member_count: 5 }] });

async function built(keys: object, files: Files = {}, out = path('dist')) {
  const operator = writeOperator(path('root'), { files: 'site', ...keys }, files);
  const args = ['--register', register, '--out', out, '--operator', operator];
  const { code, stderr } = await inProcess('build', '--quiet', ...args);
  return { out, code, stderr, page: (name: string) => readFileSync(join(out, name), 'utf8') };
}

const links = (page: string): string[] =>
  [...page.matchAll(/<li><a href="([^"]*)">(Imprint|Privacy)<\/a>/g)].map(
    ([, url = '', name = '']) => `${name} ${url}`,
  );

it('an accent is a style sheet that every page loads after its others; imprint and privacy notice are linked', async () => {
  const { out, page, code } = await built(
    {
      accent: { light: '#7A1F5C', dark: '#f0a8d0' },
      imprint: '/legal/about.html#imprint',
      privacy: 'https://example.org/p?a=1&b=2',
    },
    { 'legal/about.html': 'x', 'privacy.html': 'y' },
  );
  expect(code).toBe(0);
  // 12 % of the accent in the paper: 251 * .88 + 122 * .12 = 235.5, and so on.
  expect(page('operator.css')).toBe(`@media screen {
  :root {
    --accent: #7A1F5C;
    --accent-soft: #ece0e4;
  }
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --accent: #f0a8d0;
    --accent-soft: #2d2830;
  }
}
`);
  for (const name of PAGES) {
    const sheets = [...page(name).matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, url]) => url);
    expect(sheets.at(-1), name).toBe('/operator.css');
    expect(links(page(name)), name).toEqual([
      'Imprint /legal/about.html#imprint',
      'Privacy https://example.org/p?a=1&amp;b=2',
    ]);
  }
  const { routes, digest } = snapshotOf(out);
  expect(routes.find(({ path: url }) => url === '/operator.css')).toMatchObject({
    class: 'page',
    bucket: 'page',
    type: 'text/css; charset=utf-8',
  });
  expect(digest).toBe(digestOf(mirrorOf(out), routes));
});

it('the colours that accents are compared with are those of the style sheet', () => {
  const style = readFileSync(join(PROJECT, 'generator/outputs/pages/assets/style.css'), 'utf8');
  const [light, dark] = [...style.matchAll(/--paper: (#[0-9a-f]+);/g)].map(([, colour]) => colour);
  expect(PAPER).toEqual({ light, dark });
});

it('a logo takes the place of the mark, with its size, and files are linked by their names', async () => {
  const files = { 'logo.png': PNG, 'imprint.html': 'x', 'privacy.html': 'y' };
  const { page, code, stderr } = await built({ logo: '/logo.png' }, files);
  expect([code, stderr]).toEqual([0, '']);
  for (const name of PAGES) {
    expect(page(name)).toContain('<img class="logo" src="/logo.png" width="72" height="24" alt="">');
    expect(page(name)).not.toContain('class="mark"');
    expect(links(page(name))).toEqual(['Imprint /imprint.html', 'Privacy /privacy.html']);
  }
  for (const [attributes, width] of [
    [`data-width="7" width='30' height='20px' viewBox="0 0 9 9"`, 36],
    ['width="100%" height="100%" viewBox="-5,-5 , 48 24"', 48],
  ] as const) {
    const keys = { files: 'site', logo: '/a.svg' };
    const operator = writeOperator(path('root'), keys, { 'a.svg': svg(attributes) });
    const logo = { path: '/a.svg', width, height: 24 };
    expect(buildConfig({ operator }).brand).toMatchObject({ logo, legal: [] });
  }
});

const COLOUR = 'expected a colour such as "#00616b"';
const LINK = 'expected an https URL, or the path of a file of your own';
const OWN = 'expected the path of a file of your own';
const PICTURE = 'expected a PNG, or an SVG with a viewBox or a width and a height';
const [light, dark] = ['#000000', '#ffffff'];
// Contrasts by the definition in WCAG 2.2: 4.29:1 to #fbfaf7, and 1.155:1 to #12161a.
const CONTRAST = 'expected a contrast of at least 4.5:1 to the';
it.each([
  [{ accent: { light } }, `accent.dark is missing, ${COLOUR}`],
  [{ accent: { light: 'teal', dark } }, `accent.light: ${COLOUR}, got "teal"`],
  [{ accent: { light: '#777777', dark } }, `${CONTRAST} light page (#fbfaf7), which is 4.29:1`],
  [{ accent: { light, dark: light } }, `${CONTRAST} dark page (#12161a), which is 1.15:1`],
  [{ logo: '//host/logo.svg' }, `logo: ${OWN}, such as "/logo.svg", got "//host/logo.svg"`],
  [{ logo: '/logo.sgv' }, `logo: ${OWN}, got "/logo.sgv" (did you mean "/logo.svg"?)`],
  [{ logo: '/note.txt' }, `logo: ${PICTURE}, got "/note.txt"`],
  [{ logo: '/cut.png' }, `logo: ${PICTURE}, got "/cut.png"`],
  [{ imprint: 'javascript:alert(1)' }, `imprint: ${LINK}, got "javascript:alert(1)"`],
  [{ privacy: '/p' }, `privacy: ${OWN}, got "/p"`],
])('an operator file is refused with %j', async (keys, message) => {
  const files = { 'logo.svg': svg('viewBox="0 0 1 1"'), 'note.txt': 'x', 'cut.png': PNG.subarray(0, 20) };
  expect(await built(keys, files)).toMatchObject({ code: 2, stderr: containing(message) });
});
