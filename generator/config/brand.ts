/** The operator's brand on pages: accent colours, logo, links to the imprint and the privacy notice. */
import { closest } from '../base/closest.js';
import { PAPER, channels } from './accent.js';
import type { Mistake, OperatorFile } from './operator-file.js';
import { contentOf, generatedFile, type SiteFile } from './site-files.js';

/** The share of the accent in the background of marked elements. */
const SOFT = 0.12;

const softened = (accent: string, paper: string): string => {
  const papers = channels(paper);
  const mixed = channels(accent).map((value, index) => {
    const whole = Math.round(value * SOFT + (papers[index] ?? 0) * (1 - SOFT));
    return whole.toString(16).padStart(2, '0');
  });
  return `#${mixed.join('')}`;
};

const theme = (query: string, accent: string, paper: string): string =>
  `@media ${query} {\n  :root {\n    --accent: ${accent};\n    --accent-soft: ${softened(accent, paper)};\n  }\n}\n`;

/** The style sheet that replaces the accent of style.css, though not in print. */
export function accentStyle({ light, dark }: NonNullable<OperatorFile['accent']>): SiteFile {
  return generatedFile(
    'operator.css',
    'Accent colours of the operator',
    theme('screen', light, PAPER.light) + theme('screen and (prefers-color-scheme: dark)', dark, PAPER.dark),
  );
}

export interface Brand {
  /** The path of a style sheet. */
  readonly style: string | undefined;
  readonly logo: Logo | undefined;
  /** The links on every page. */
  readonly legal: readonly (readonly [url: string, name: string])[];
}

interface Logo {
  readonly path: string;
  /** In CSS pixels, at a height of `LOGO_HEIGHT`: so nothing moves when it is loaded. */
  readonly width: number;
  readonly height: number;
}

/** 1.5rem. */
const LOGO_HEIGHT = 24;

/**
 * @param accent the style sheet of the accent, if there is one
 * @returns the brand, unless there are mistakes: what is wrong with the paths
 */
export function brandOf(
  { logo, imprint, privacy }: Pick<OperatorFile, 'logo' | 'imprint' | 'privacy'>,
  files: readonly SiteFile[],
  accent: SiteFile | undefined,
): { readonly brand: Brand; readonly mistakes: readonly Mistake[] } {
  const mistakes: Mistake[] = [];
  const byPath = new Map(files.map((file) => [file.route.path, file]));
  const found = (key: string, path: string): SiteFile | undefined => {
    const file = byPath.get(path);
    if (file !== undefined) return file;
    const meant = closest(path, [...byPath.keys()]);
    const hint = meant === undefined ? '' : ` (did you mean "${meant}"?)`;
    mistakes.push({ key, message: `expected the path of a file of your own, got "${path}"${hint}` });
    return undefined;
  };
  const link = (key: string, name: string, url: string | undefined): Brand['legal'] => {
    const usual = `/${key}.html`;
    if (url === undefined) return byPath.has(usual) ? [[usual, name]] : [];
    if (url.startsWith('/')) found(key, url.replace(/#.*/, ''));
    return [[url, name]];
  };
  const logoFile = logo === undefined ? undefined : found('logo', logo);
  const width = logoFile && widthOf(logoFile);
  if (logoFile !== undefined && width === undefined) {
    const message = `expected a PNG, or an SVG with a viewBox or a width and a height, got "${logo}"`;
    mistakes.push({ key: 'logo', message });
  }
  const brand = {
    style: accent?.route.path,
    logo: logo === undefined || width === undefined ? undefined : { path: logo, width, height: LOGO_HEIGHT },
    legal: [...link('imprint', 'Imprint', imprint), ...link('privacy', 'Privacy', privacy)],
  };
  return { brand, mistakes };
}

/** The width of a picture at the height of a logo; undefined if the file doesn't say. */
function widthOf(file: SiteFile): number | undefined {
  const content = contentOf(file);
  const { type } = file.route;
  const [width, height] =
    type === 'image/png' ? sizeOfPng(content) : type === 'image/svg+xml' ? sizeOfSvg(content.toString()) : [];
  if (width === undefined || height === undefined || !(width > 0) || !(height > 0)) return undefined;
  return Math.max(1, Math.round((LOGO_HEIGHT * width) / height));
}

/** What every PNG begins with (W3C PNG, 5.2): its signature, and the length and type of the header. */
const PNG_START = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

const sizeOfPng = (content: Buffer): readonly number[] =>
  content.length >= 24 && content.subarray(0, 16).equals(PNG_START)
    ? [content.readUInt32BE(16), content.readUInt32BE(20)]
    : [];

/** Its width and height, or else those of its viewBox, as browsers take the proportions (CSS Images 3). */
function sizeOfSvg(text: string): readonly number[] {
  const [root = ''] = /<svg\b[^>]*>/.exec(text.replaceAll(/<!--.*?-->/gs, '')) ?? [];
  const attribute = (name: string): string =>
    new RegExp(String.raw`\s${name}\s*=\s*(["'])(?<value>.*?)\1`, 's').exec(root)?.groups?.['value'] ?? '';
  const size = ['width', 'height'].map((name) => Number(attribute(name).replace(/px$/, '') || Number.NaN));
  if (!size.includes(Number.NaN)) return size;
  return attribute('viewBox')
    .trim()
    .split(/[\s,]+/)
    .slice(2)
    .map(Number);
}
