/** A tree whose snapshot.json is hostile: `edge` refuses it, or writes it as text alone. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { always, isThorough, oneIn } from '../../../support/thorough.js';
import { hostHeaders, hostRedirects } from '../../../../generator/programs/edge/headers.js';
import { nginxConfiguration } from '../../../../generator/programs/edge/nginx.js';
import { readPublished } from '../../../../generator/programs/edge/published.js';
import { Failure } from '../../../../generator/base/errors.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { sampleTree } from '../../../system/contract/sample-tree.js';
import { temporary } from '../../../support/folder.js';
import { MARK, alterations, jsonObject, withFewRoutes, type Json } from '../../tree/hostile.js';

const path = temporary();
const out = path('dist');
mkdirSync(out);
const built = readFileSync(`${await sampleTree()}/snapshot.json`, 'utf8');
const honest = withFewRoutes(jsonObject.parse(JSON.parse(built)));

interface Token {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** The words of nginx.conf, as nginx reads them: `;`, `{` and `}` outside of quotes end a statement. */
function* tokensOf(configuration: string): Generator<Token, void> {
  const token = /\s+|#[^\n]*|(["'])((?:\\[^]|(?!\1)[^\\])*)\1|[;{}]|(?:\\[^]|\$\{\w+\}|[^\s;{}"'#\\])+/gy;
  for (let at = 0; at < configuration.length; at = token.lastIndex) {
    token.lastIndex = at;
    const [whole = '', quote, inside = ''] = token.exec(configuration) ?? [];
    if (whole === '') throw new Error(`nginx would refuse ${configuration.slice(at, at + 80)}`);
    if (quote !== undefined) yield { text: inside, isQuoted: true };
    else if (!/^[\s#]/.test(whole)) yield { text: whole, isQuoted: false };
  }
}

/** Each statement by its depth and number of words: all that a text in quotes can't change. */
function shapeOf(configuration: string): readonly string[] {
  const shape: string[] = [];
  let [depth, count] = [0, 0];
  for (const { text, isQuoted } of tokensOf(configuration)) {
    if (isQuoted || !/^[;{}]$/.test(text)) {
      count += 1;
      continue;
    }
    shape.push(`${depth} ${count} ${text}`);
    depth += text === '{' ? 1 : text === '}' ? -1 : 0;
    count = 0;
  }
  return shape;
}

/** Whether a configuration is that of the honest tree, but for what is in quotes. */
function isTextAlone(configuration: string, honestly: string): boolean {
  if (/\$\{?(PWN|pwn)|(?!\n)\p{Cc}/u.test(configuration)) return false;
  if (!configuration.includes(MARK)) return true;
  const isBare = [...tokensOf(configuration)].some(({ text, isQuoted }) => text.includes(MARK) && !isQuoted);
  return !isBare && isDeepStrictEqual(shapeOf(configuration), shapeOf(honestly));
}

const options = { out: '/srv/dist', file: '/srv/nginx.conf', listen: '127.0.0.1:80', trusted: [] };

/** What is written for a snapshot.json; undefined if it is refused. */
function written(snapshot: Json) {
  writeFileSync(`${out}/snapshot.json`, JSON.stringify(snapshot));
  try {
    const published = readPublished(new Tree(out));
    return {
      nginx: nginxConfiguration(published, options).text,
      headers: hostHeaders(published),
      redirects: hostRedirects(published),
    };
  } catch (error) {
    if (error instanceof Failure && /^[ -~]+$/.test(error.message)) return undefined;
    throw error;
  }
}

always('a hostile snapshot.json reaches configurations as text alone', () => {
  const clean = written(honest);
  expect(shapeOf(clean?.nginx ?? '').length).toBeGreaterThan(400);
  let marked = 0;
  const wrong: string[] = [];
  for (const { place, value, snapshot } of oneIn(24, alterations(honest))) {
    const files = typeof value === 'string' ? written(snapshot) : undefined;
    if (files === undefined) continue;
    const { nginx, headers, redirects } = files;
    const lines = [...headers.split('\n'), ...redirects.split('\n')].filter((line) => line.includes(MARK));
    const isText = lines.every((line) => /^( {2}[A-Za-z-]+: [ -~]+|\/\S* \/\S* \d+|\/\S*)$/.test(line));
    if (nginx.includes(MARK)) marked += 1;
    if (!isText || !isTextAlone(nginx, clean?.nginx ?? ''))
      wrong.push(`${place} = ${JSON.stringify(value).slice(0, 100)}`);
  }
  expect(wrong).toEqual([]);
  // Of titles and details alone.
  expect(marked).toBeGreaterThan(isThorough ? 100 : 3);
});

it('the files for static hosts have no line that a value has begun', () => {
  writeFileSync(`${out}/snapshot.json`, JSON.stringify(honest));
  const published = readPublished(new Tree(out));
  const all = { ...published.headers.all, 'X-A': 'z\n/*\n  Set-Cookie: a=b' };
  expect(() => hostHeaders({ ...published, headers: { ...published.headers, all } })).toThrow(Failure);
});
