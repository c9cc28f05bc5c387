/**
 * Attacks on a published, signed tree: which of our programs notices what, and thanks to what it
 * kept. The table is what docs/signed-log.md says of them under "Who notices what"; what none of them
 * notices is in it, too.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { ROWS, inProcess, temporary } from '../publish/support.js';
import { startProxy } from '../../support/proxy.js';
import { writeRegister } from '../../support/register.js';
import {
  RECORD,
  Scene,
  alterLimits,
  edit,
  editAll,
  entryNow,
  forge,
  nameKey,
  noticedBy,
  readObject,
  sign,
} from './attacked.js';
import type { Client, Noticed } from './attacked.js';
import { newKey, readKey } from './naive.js';

const path = temporary();
const NAME = 'register.example/log';
/** Three snapshots are published, and all clients have seen the third. */
const base = new Scene(path('base'));
/** The same when there were two. */
let old: Scene;
const price = (value: number): string => `UPDATE items SET price = ${value} WHERE id = 3`;

/** The attacker signs with a copy of the key; the publisher's KEY.last is as it was. */
function signByCopiedKey(scene: Scene, entries: readonly string[]): void {
  sign(scene, readKey(scene.key), entries);
  cpSync(`${base.key}.last`, `${scene.key}.last`);
}

const CLIENTS: readonly Client[] = ['verify', 'new copy', 'copy', 'prove', 'next build'];
const NOT: Noticed = ['no', ''];
const CHECKPOINT = 'kept checkpoint';
const UNCOVERED = '/snapshot.json is not the one that the newest entry of the log covers';
const UNLISTED: Noticed = ['at once', '/api/v1/group/5 is not as signed snapshot 3 lists it'];
const MIXED: Noticed = ['at once', 'the files of the log are of different snapshots'];
const UNSIGNED: Noticed = ['warned', 'snapshot 4 is not in the signed log yet'];
const ALTERED: Noticed = ['at once', 'altered: snapshot.json\n'];
const REWRITTEN: Noticed = [CHECKPOINT, 'rewritten: log/'];
const SHORTER: Noticed = [
  CHECKPOINT,
  'has 2 entries and had 3 before: it shows an older state, or another history',
];
const TWO_CHECKPOINTS: Noticed = [CHECKPOINT, 'prove by two signed checkpoints'];
const SECOND: Noticed = [CHECKPOINT, 'has other ones: to go on would sign a second history'];

interface Row {
  readonly attack: (scene: Scene) => unknown;
  /** When, and what is said. Clients that are not named notice nothing. */
  readonly noticed: Readonly<Partial<Record<Client, Noticed>>>;
}

const TABLE: Readonly<Record<string, Row>> = {
  nothing: { attack: () => undefined, noticed: {} },
  'limits in snapshot.json are altered': {
    attack: alterLimits,
    // The next build writes snapshot.json again.
    noticed: { verify: ALTERED, 'new copy': ['at once', UNCOVERED], copy: [CHECKPOINT, UNCOVERED] },
  },
  'the file of a record is edited': {
    attack: edit,
    // Copies take records from the downloads, and so the one that was published.
    noticed: {
      verify: ['at once', 'altered: api/v1/group/5.json\n'],
      prove: UNLISTED,
    },
  },
  'so are the downloads': {
    attack: editAll,
    noticed: {
      verify: ['at once', 'altered: downloads/documents/group.ndjson.gz\n'],
      'new copy': ['at once', 'the copy has the digest '],
      prove: UNLISTED,
    },
  },
  'so are chunks, lists, routes.txt, digest, snapshot.json and state': {
    attack: (scene) => forge(scene),
    // The next build trusts the state.
    noticed: {
      verify: ALTERED,
      'new copy': ['at once', 'the newest entry of the log is of snapshot 3'],
      copy: [CHECKPOINT, 'the newest entry of the log is of snapshot 3'],
      prove: MIXED,
    },
  },
  'all of that as one more snapshot that is not signed yet': {
    attack: (scene) => forge(scene, 4),
    noticed: { verify: ALTERED, 'new copy': UNSIGNED, copy: UNSIGNED, prove: MIXED },
  },
  'a snapshot is dropped': {
    attack: (scene) => {
      const [first = '', , third = ''] = scene.entries;
      signByCopiedKey(scene, [first, third]);
    },
    noticed: {
      verify: REWRITTEN,
      copy: SHORTER,
      'next build': [CHECKPOINT, 'has signed a log of 3 snapshots, and '],
    },
  },
  'a fork, to a reader who has seen the other side': {
    attack: async (scene) => {
      const other = base.copyTo(path('other-side'));
      await other.build(price(50));
      await scene.build(price(40));
      await scene.look();
      scene.serve(other);
    },
    noticed: {
      verify: REWRITTEN,
      copy: TWO_CHECKPOINTS,
      'next build': SECOND,
    },
  },
  'an old tree is served again': {
    attack: (scene) => scene.serve(old),
    noticed: {
      // Unless its state, where it remembers the checkpoint, is as old.
      verify: REWRITTEN,
      copy: SHORTER,
      'next build': [CHECKPOINT, 'has only 2 of them'],
    },
  },
  'another key of the same name signs one more snapshot': {
    attack: (scene) => {
      const [{ entries }, key] = [scene, newKey(NAME, 1)];
      forge(scene, 4);
      nameKey(scene, key);
      sign(scene, key, [...entries, entryNow(scene)]);
    },
    noticed: {
      // It takes the keys that snapshot.json names, but the state knows what that was.
      verify: ALTERED,
      'new copy': ['kept key', "the origin's log can't be trusted"],
      copy: [CHECKPOINT, "the origin's log can't be trusted"],
      prove: ['kept key', 'the note is not signed by the expected key'],
      'next build': [CHECKPOINT, 'none of the keys has signed the checkpoint'],
    },
  },
};

beforeAll(async () => {
  mkdirSync(base.folder);
  writeRegister(base.file('register.sqlite'), ROWS);
  await inProcess('keygen', '--name', NAME, '--write', base.key);
  await base.build(price(10));
  await base.build(price(20));
  old = base.copyTo(path('old'));
  await base.build(price(30));
  await base.look();
});

it.concurrent.each(Object.entries(TABLE))('%s', async (_, { attack, noticed }) => {
  const scene = base.copyTo(path('attacked'));
  await attack(scene);
  const expected = CLIENTS.map((client) => {
    const [when, why] = noticed[client] ?? NOT;
    return [client, [when, expect.stringContaining(why)]];
  });
  expect(await noticedBy(scene)).toEqual(Object.fromEntries(expected));
});

it('a copy that took a forged snapshot, which was not signed, is repaired by the next signed one', async () => {
  const scene = base.copyTo(path('forged'));
  const honest = base.copyTo(path('honest'));
  forge(scene, 4);
  const copy = scene.file('copy');
  const mirror = async (): Promise<string> => {
    const proxy = await startProxy(scene.out, ['--page-tokens', '1000000']);
    try {
      const { code, stderr } = await inProcess('mirror', proxy.base, '--out', copy);
      expect(code).toBe(0);
      return stderr;
    } finally {
      await proxy.stop();
    }
  };
  const name = (): unknown => readObject(join(copy, `${RECORD}.json`))['name'];
  expect(await mirror()).toContain('warning: snapshot 4 is not in the signed log yet');
  expect(name()).toBe('group X');
  // The copy is whole, but for a signature that may come.
  expect(await inProcess('verify', '--out', copy)).toMatchObject({ code: 0 });
  await honest.build(price(40));
  scene.serve(honest);
  expect(await mirror()).toBe('');
  expect(name()).toBe('group 5');
  expect(await inProcess('verify', '--out', copy)).toMatchObject({ code: 0 });
});
