/**
 * A tree whose snapshot.json is hostile: it is refused, or the proxy takes it into service, and `edge` writes it as
 * text alone.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { always, isThorough, oneIn } from '../../../support/thorough.js';
import { hostHeaders, hostRedirects } from '../../../../generator/programs/edge/headers.js';
import { nginxConfiguration } from '../../../../generator/programs/edge/nginx.js';
import { readPublished } from '../../../../generator/programs/edge/published.js';
import { Failure } from '../../../../generator/base/errors.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { Router } from '../../../../proxy/tree/router.js';
import { parseSnapshot } from '../../../../proxy/tree/schema.js';
import { sampleTree } from '../../../system/contract/sample-tree.js';
import { newFolder, temporary } from '../../../support/folder.js';

/** What nothing but the inside of a quoted text may contain. */
const MARK = 'PWN';

/** Ends of quotes, lines and blocks in nginx.conf, in `_headers`, in HTTP and on a terminal. */
const HOSTILE_TEXTS: readonly string[] = [
  `x"; ${MARK} on; #`,
  `x;\n    location ^~ /${MARK}/ { alias /etc/; autoindex on; }\n    add_header X-Y`,
  `x\r\n\r\n${MARK}`,
  `x\n/*\n  ${MARK}: on`,
  `$${MARK}`,
  `\${${MARK}}`,
  `{${MARK}}`,
  `{document_root}`,
  `x\\`,
  `\u001B]0;${MARK}\u0007`,
  `/../../${MARK}`,
  `/.${MARK}`,
  `${MARK}\0`,
  `${MARK}\u2028${MARK}`,
  'x'.repeat(20_000),
  '',
];

const OTHER_VALUES: readonly unknown[] = [null, true, -1, 0, 1.5, 1e300, [], {}, [[]], { a: 1 }];

type Json = Readonly<Record<string, unknown>>;
const jsonObject = z.record(z.string(), z.unknown());

/** Where something was changed, and the snapshot.json with it. */
interface Altered {
  readonly place: string;
  readonly value: unknown;
  readonly snapshot: Json;
}

const isObject = (value: unknown): value is Json | readonly unknown[] =>
  typeof value === 'object' && value !== null;

/** A copy in which something is replaced; undefined removes a member. */
function replaced(node: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (Array.isArray(node))
    return node.map((each: unknown, at) => (String(at) === name ? replaced(each, rest, value) : each));
  const members = Object.entries(jsonObject.parse(node));
  const isNew = members.every(([each]) => each !== name);
  return Object.fromEntries(
    [...members, ...(isNew ? [[name, undefined] as const] : [])]
      .map(([each, member]) => [each, each === name ? replaced(member, rest, value) : member] as const)
      .filter(([, member]) => member !== undefined),
  );
}

/** Of long lists, the first members and the last: those between are of the same kind. */
const membersOf = (
  node: Json | readonly unknown[],
  isWhole: boolean,
): readonly (readonly [string, unknown])[] => {
  const all = Object.entries(node);
  if (isWhole) return all;
  return all.length > 12 ? [...all.slice(0, 3), ...all.slice(-2)] : all;
};

/** Every place of an object, the names of its members among them, with each hostile value in turn. */
function* alterations(snapshot: Json): Generator<Altered, void> {
  yield* below(snapshot, snapshot, []);
}

function* below(snapshot: Json, node: unknown, path: readonly string[]): Generator<Altered, void> {
  const at = (where: readonly string[], value: unknown): Altered => ({
    place: where.join('.'),
    value,
    snapshot: jsonObject.parse(replaced(snapshot, where, value)),
  });
  if (!isObject(node)) {
    for (const value of [...HOSTILE_TEXTS, ...OTHER_VALUES, undefined]) yield at(path, value);
    return;
  }
  for (const value of [null, 'x', 1]) if (path.length > 0) yield at(path, value);
  // Members of others are ignored, as any reader of a later version's must.
  if (path.includes('headers') || path[0] === 'errors')
    for (const name of HOSTILE_TEXTS) yield at([...path, name], 'z');
  for (const [name, member] of membersOf(
    node,
    path.length === 0 || (path.length === 2 && path[0] === 'routes'),
  ))
    yield* below(snapshot, member, [...path, name]);
}

/** The same with one route of each sort, and those that they require. */
function withFewRoutes(snapshot: Json): Json {
  const routes = jsonObject.array().parse(snapshot['routes']);
  const sortOf = (each: Json): string =>
    JSON.stringify([each['class'], each['parameters'], 'requires' in each, 'attachment' in each]);
  const kept = [...new Map(routes.map((each) => [sortOf(each), each])).values()];
  const required = new Set(kept.map((each) => each['requires']));
  return { ...snapshot, routes: routes.filter((each) => kept.includes(each) || required.has(each['name'])) };
}

const path = temporary();
const out = newFolder(path('dist'));
const built = readFileSync(`${await sampleTree()}/snapshot.json`, 'utf8');
const honest = withFewRoutes(jsonObject.parse(JSON.parse(built)));

/** A configuration without comments and what is in quotes: all that a text in quotes can't change. */
const bare = (configuration: string): string =>
  configuration.replaceAll(/(["'])(?:\\[^]|(?!\1)[^\\])*\1|(?<=\s)#[^\n]*/g, '""');

/** Whether a configuration is that of the honest tree, but for what is in quotes. */
const isTextAlone = (configuration: string, honestly: string): boolean =>
  !/\$\{?(PWN|pwn)|(?!\n)\p{Cc}/u.test(configuration) &&
  (!configuration.includes(MARK) || bare(configuration) === bare(honestly));

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

always('what is accepted of a hostile snapshot.json is served, and text alone in configurations', () => {
  const clean = written(honest);
  expect(bare(clean?.nginx ?? '').split('\n').length).toBeGreaterThan(400);
  let [accepted, refused, marked] = [0, 0, 0];
  const wrong: string[] = [];
  for (const { place, value, snapshot } of oneIn(32, alterations(honest))) {
    const files = written(snapshot);
    if (files === undefined) {
      refused += 1;
      continue;
    }
    accepted += 1;
    const said = `${place} = ${JSON.stringify(value)?.slice(0, 100)}`;
    expect(() => new Router(parseSnapshot(JSON.stringify(snapshot))), said).not.toThrow();
    const { nginx, headers, redirects } = files;
    const lines = [...headers.split('\n'), ...redirects.split('\n')].filter((line) => line.includes(MARK));
    const isText = lines.every((line) => /^( {2}[A-Za-z-]+: [ -~]+|\/\S* \/\S* \d+|\/\S*)$/.test(line));
    if (nginx.includes(MARK)) marked += 1;
    if (!isText || !isTextAlone(nginx, clean?.nginx ?? '')) wrong.push(said);
  }
  expect(wrong).toEqual([]);
  expect(refused).toBeGreaterThan(isThorough ? 4000 : 100);
  expect(accepted).toBeGreaterThan(isThorough ? 100 : 3);
  // Of titles and details alone.
  expect(marked).toBeGreaterThan(isThorough ? 100 : 3);
});

it('the files for static hosts have no line that a value has begun', () => {
  writeFileSync(`${out}/snapshot.json`, JSON.stringify(honest));
  const published = readPublished(new Tree(out));
  const all = { ...published.headers.all, 'X-A': 'z\n/*\n  Set-Cookie: a=b' };
  expect(() => hostHeaders({ ...published, headers: { ...published.headers, all } })).toThrow(Failure);
});
