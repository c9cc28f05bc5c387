/** The rooms of the generator: each imports only from those below it. */
import { describe, expect, it } from 'vitest';
import { sourcesIn } from '../support/sources.js';

/** From the top; the rooms of one row do not know each other. */
const ROWS = [
  ['commands'],
  ['upload', 'mirror', 'log', 'edge', 'verify'],
  ['build'],
  ['outputs'],
  ['exports'],
  ['publish'],
  ['tree'],
  ['register'],
  ['config'],
  ['routes'],
  ['schema'],
  ['base'],
] as const;
type Room = (typeof ROWS)[number][number];

/** Files and folders beside the rooms. */
const ROOMS: Readonly<Record<string, Room>> = {
  assets: 'base',
  cli: 'commands',
  closest: 'base',
  cursor: 'base',
  errors: 'base',
  files: 'base',
  keys: 'base',
  lock: 'base',
  package: 'base',
  portable: 'base',
  program: 'commands',
  progress: 'base',
  sqlite: 'base',
};

/** Within their row: what is signed is checked by one implementation. */
const SIDEWAYS: ReadonlySet<string> = new Set(['mirror -> log', 'verify -> log']);

/** `generator/publish/lists.js` -> `publish`. */
function roomOf(path: string): Room {
  const [, name = ''] = /^generator\/([\w-]+)/.exec(path) ?? [];
  const room = ROOMS[name] ?? ROWS.flat().find((each) => each === name);
  if (room === undefined) throw new TypeError(`${path} is in no room`);
  return room;
}

const rowOf = (room: Room): number => ROWS.findIndex((row) => row.some((each) => each === room));

const imports = sourcesIn('generator').flatMap(({ file, imports: imported }) =>
  imported
    .filter((path) => path.startsWith('generator/'))
    .map((path) => ({ file, from: roomOf(file), to: roomOf(path) })),
);

const isUpwards = ({ from, to }: { readonly from: Room; readonly to: Room }): boolean =>
  from !== to && rowOf(to) <= rowOf(from) && !SIDEWAYS.has(`${from} -> ${to}`);

describe('imports between rooms', () => {
  it('lead downwards', () => {
    const upwards = imports.filter(isUpwards).map(({ file, to }) => `${file} -> ${to}`);
    expect(upwards).toEqual([]);
  });

  it('of tree/ lead to what does not depend on a register', () => {
    const rooms = new Set(imports.filter(({ from }) => from === 'tree').map(({ to }) => to));
    expect([...rooms].toSorted()).toEqual(['base', 'routes', 'tree']);
  });
});
