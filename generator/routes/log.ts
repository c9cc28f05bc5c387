/** The routes of the signed log of snapshots (C2SP tlog-tiles). Only a signed tree has them. */
import type { PathParameter, TreeParameter, UnlistedRoute } from './route.js';
import { PATHS } from './paths.js';

const TREE: TreeParameter = {
  name: 'tree',
  in: 'path',
  type: 'tree',
  description: 'id of the tree, as in snapshot.json',
};

const below = (description: string): readonly [TreeParameter, PathParameter] => [
  TREE,
  { name: 'path', in: 'path', type: 'path', description },
];

const TEXT = 'text/plain; charset=utf-8';

/** Clients of the log read many small files, so it has the limit of pages. */
export const LOG: readonly UnlistedRoute[] = [
  {
    name: 'log-checkpoint',
    path: `${PATHS.log}/{tree}/checkpoint`,
    file: 'log/{tree}/checkpoint',
    class: 'checkpoint',
    bucket: 'page',
    type: TEXT,
    description: 'Signed size and root of the log of snapshots',
    parameters: [TREE],
    absent: 'no log of tree {tree}',
  },
  {
    name: 'log-tile',
    path: `${PATHS.log}/{tree}/tile/{path}`,
    file: 'log/{tree}/tile/{path}',
    class: 'tile',
    bucket: 'page',
    type: 'application/octet-stream',
    description: 'Tile of the log: 256 hashes, or the entries of 256 snapshots, or fewer at its end',
    parameters: below('level and number of a tile with plain slashes, as in 0/000.p/5 or entries/x001/234'),
    absent: 'no tile {path} in the log of tree {tree}',
  },
  {
    // An index must fit the checkpoint, so no cache keeps it longer.
    name: 'log-index',
    path: `${PATHS.log}/{tree}/index/{path}`,
    file: 'log/{tree}/index/{path}',
    class: 'checkpoint',
    bucket: 'page',
    type: TEXT,
    description: 'What the digest of the newest snapshot is made of: its routes, or part of one',
    parameters: below('file of the index with plain slashes, as in routes.txt or group/chunks.txt'),
    absent: 'no file {path} in the index of tree {tree}',
  },
];
