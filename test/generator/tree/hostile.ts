/** What a hostile snapshot.json says: each place of an honest one in turn, with values that mean something to others. */
import * as z from 'zod';

/** What nothing but the inside of a quoted text may contain. */
export const MARK = 'PWN';

/** Ends of quotes, lines and blocks in nginx.conf, in `_headers`, in HTTP and on a terminal. */
const HOSTILE_TEXTS: readonly string[] = [
  `x"; ${MARK} on; #`,
  `x'; ${MARK} on; #`,
  `x;\n    location ^~ /${MARK}/ { alias /etc/; autoindex on; }\n    add_header X-Y`,
  `x }\n${MARK} on;`,
  `x\r\n\r\n${MARK}`,
  `x\n/*\n  ${MARK}: on`,
  `$${MARK}`,
  `\${${MARK}}`,
  `{${MARK}}`,
  `{pwn}`,
  `{document_root}`,
  `$document_root/${MARK}`,
  `x\\`,
  `\\"${MARK}`,
  `\u001B]0;${MARK}\u0007`,
  `/../../${MARK}`,
  `//${MARK}.example`,
  `/.${MARK}`,
  `${MARK}\0`,
  `${MARK}\u2028${MARK}`,
  `*/ ${MARK}`,
  'x'.repeat(20_000),
  '',
];

/** Header names that frame a response, are of the connection, or of one client. */
export const HOSTILE_NAMES: readonly string[] = [
  'Connection Content-Length Transfer-Encoding TE Trailer Upgrade Keep-Alive Proxy-Authenticate',
  'proxy-connection Set-Cookie set-cookie2 Cookie Host Date Content-Encoding content-range Location',
  'Refresh Content-Type ETag X_Y 1X X:',
].flatMap((line) => line.split(' '));

const OTHER_VALUES: readonly unknown[] = [null, true, -1, 0, 1.5, 1e300, [], {}, [[]], { a: 1 }];

export type Json = Readonly<Record<string, unknown>>;
export const jsonObject = z.record(z.string(), z.unknown());

/** Where something was changed, and the snapshot.json with it. */
export interface Altered {
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
export function* alterations(snapshot: Json): Generator<Altered, void> {
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
    for (const name of [...HOSTILE_TEXTS, ...HOSTILE_NAMES]) yield at([...path, name], 'z');
  for (const [name, member] of membersOf(
    node,
    path.length === 0 || (path.length === 2 && path[0] === 'routes'),
  ))
    yield* below(snapshot, member, [...path, name]);
}

const route = z.looseObject({
  name: z.string(),
  class: z.string(),
  parameters: z.array(z.looseObject({ type: z.string() })).default([]),
  requires: z.string().optional(),
  attachment: z.string().optional(),
});

/** The same with one route of each sort, and those that they require. */
export function withFewRoutes(snapshot: Json): Json {
  const routes = z.array(route).parse(snapshot['routes']);
  const first = new Map(
    routes.map((each) => {
      const { class: cacheClass, parameters, requires, attachment } = each;
      const types = parameters.map(({ type }) => type).join();
      return [[cacheClass, types, requires !== undefined, attachment !== undefined].join(), each];
    }),
  );
  const chosen = new Set([...first.values()].flatMap(({ name, requires = name }) => [name, requires]));
  const kept = jsonObject.array().parse(snapshot['routes']);
  return { ...snapshot, routes: kept.filter(({ name }) => chosen.has(String(name))) };
}
