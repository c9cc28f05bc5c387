/**
 * Attacks on a published, signed tree: which client notices what, and thanks to what it kept. The
 * table is what docs/signed-log.md says under "Who notices what"; what nobody notices is in it, too.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROWS, inProcess, temporary } from '../publish/support.js';
import { has } from '../../support/programs.js';
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
import { buildVerifier } from './go-verifier.js';
import { newKey, publicKeyOf, readKey } from './naive.js';
import { Witness } from './witness-server.js';

const path = temporary();
const NAME = 'register.example/log';
const go = has('attacks on a signed log, as the verifier of others sees them', 'go')
  ? buildVerifier(path('go'))
  : undefined;

/** Three snapshots are published, and all clients have seen the third. */
const base = new Scene(path('base'));
/** The same when there were two. */
let old: Scene;
const price = (value: number): string => `UPDATE items SET price = ${value} WHERE id = 3`;
const WITHHOLD = "INSERT INTO withheld VALUES ('group', 5, '2026-11-20T08:00:00Z')";

/** The attacker signs with a copy of the key; the publisher's KEY.last is as it was. */
function signByCopiedKey(scene: Scene, entries: readonly string[]): void {
  sign(scene, readKey(scene.key), entries);
  cpSync(`${base.key}.last`, `${scene.key}.last`);
}

const CLIENTS: readonly Client[] = [
  'verify',
  'new copy',
  'copy',
  'prove',
  'saved proof',
  'witness',
  'verifier of others',
  'next build',
];
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
const INCONSISTENT: Noticed = [CHECKPOINT, 'inconsistent'];
const NO_FILE: Noticed = [CHECKPOINT, 'no such file'];
const SECOND: Noticed = [CHECKPOINT, 'has other ones: to go on would sign a second history'];
const OTHER_DOCUMENT: Noticed = ['kept proof', 'the document to compare is not that of snapshot 3'];
const OTHER_ENTRIES: Noticed = ['kept proof', 'the log has not the entries of the proof'];

interface Row {
  readonly attack: (scene: Scene) => unknown;
  /** What a proof is asked for, if it isn't the record. */
  readonly document?: string;
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
      'saved proof': OTHER_DOCUMENT,
    },
  },
  'so are the downloads': {
    attack: editAll,
    noticed: {
      verify: ['at once', 'altered: downloads/documents/group.ndjson.gz\n'],
      'new copy': ['at once', 'the copy has the digest '],
      prove: UNLISTED,
      'saved proof': OTHER_DOCUMENT,
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
      'saved proof': OTHER_DOCUMENT,
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
      'saved proof': OTHER_ENTRIES,
      witness: [CHECKPOINT, '409 3\n'],
      'verifier of others': NO_FILE,
      'next build': [CHECKPOINT, 'has signed a log of 3 snapshots, and '],
    },
  },
  'a snapshot is dropped, and another one published': {
    attack: async (scene) => {
      const [first = '', , third = ''] = scene.entries;
      await scene.build(price(40));
      signByCopiedKey(scene, [first, third, ...scene.entries.slice(3)]);
    },
    noticed: {
      verify: REWRITTEN,
      copy: TWO_CHECKPOINTS,
      'saved proof': OTHER_ENTRIES,
      witness: [CHECKPOINT, '409 3\n'],
      'verifier of others': INCONSISTENT,
      'next build': SECOND,
    },
  },
  'a fork, to a reader who is shown one side': {
    attack: async (scene) => {
      const other = base.copyTo(path('other-side'));
      await other.publish(price(40));
      await scene.build(price(50));
      scene.cosigned = other.cosigned;
    },
    // The next build is of the key that was copied.
    noticed: { witness: [CHECKPOINT, '409 4\n'] },
  },
  'a fork, to a reader who has seen the other side': {
    attack: async (scene) => {
      const other = base.copyTo(path('other-side'));
      await other.build(price(50));
      await scene.publish(price(40));
      await scene.look();
      scene.serve(other);
    },
    noticed: {
      verify: REWRITTEN,
      copy: TWO_CHECKPOINTS,
      'saved proof': OTHER_ENTRIES,
      witness: [CHECKPOINT, '409 4\n'],
      'verifier of others': INCONSISTENT,
      'next build': SECOND,
    },
  },
  'an old tree is served again': {
    attack: (scene) => scene.serve(old),
    // A witness is not asked, and its old cosignature is as good as ever.
    noticed: {
      // Unless its state, where it remembers the checkpoint, is as old.
      verify: REWRITTEN,
      copy: SHORTER,
      'saved proof': OTHER_ENTRIES,
      'verifier of others': NO_FILE,
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
      witness: [CHECKPOINT, '403 not signed'],
      'verifier of others': ['kept key', 'no verifiable signatures'],
      'next build': [CHECKPOINT, 'none of the keys has signed the checkpoint'],
    },
  },
  'a withholding is hidden in the entry before': {
    attack: async (scene) => {
      await scene.build(WITHHOLD);
      const [first = '', second = '', , fourth = ''] = scene.entries;
      // As if the record had not been in snapshot 3 either.
      signByCopiedKey(scene, [first, second, fourth.replace('sequence 4', 'sequence 3'), fourth]);
    },
    document: '/api/v1/group/6',
    noticed: {
      verify: REWRITTEN,
      copy: TWO_CHECKPOINTS,
      'saved proof': OTHER_ENTRIES,
      witness: [CHECKPOINT, '422 not consistent'],
      'verifier of others': INCONSISTENT,
      'next build': SECOND,
    },
  },
};

let found: Readonly<Record<string, Awaited<ReturnType<typeof noticedBy>>>>;

beforeAll(async () => {
  mkdirSync(base.folder);
  writeRegister(base.file('register.sqlite'), ROWS);
  await inProcess('keygen', '--name', NAME, '--write', base.key);
  await base.publish(price(10));
  await base.publish(price(20));
  old = base.copyTo(path('old'));
  await base.publish(price(30));
  await base.look();
  // Most of the time goes by while clients wait for the next snapshot.
  const all = Object.entries(TABLE).map(async ([name, { attack, document }]) => {
    const scene = base.copyTo(path('attacked'));
    await attack(scene);
    return [name, await noticedBy(scene, go, document)] as const;
  });
  found = Object.fromEntries(await Promise.all(all));
});

describe.each(Object.entries(TABLE))('%s', (name, { noticed }) => {
  const cells = CLIENTS.filter((client) => go ?? client !== 'verifier of others').map((client) => {
    const [when, why] = noticed[client] ?? NOT;
    return { client, when, why };
  });
  it.each(cells)('$client: $when', ({ client, when, why }) => {
    const [seen, said = ''] = found[name]?.[client] ?? [];
    expect([seen, said]).toEqual([when, expect.stringContaining(why)]);
  });
});

describe('what follows', () => {
  it('a build signs what somebody has put into the tree and its state', async () => {
    const scene = base.copyTo(path('signed'));
    forge(scene);
    await scene.build(price(40));
    const proof = scene.file('forged.tlog-proof');
    expect(await inProcess('prove', scene.out, RECORD, '--write', proof)).toMatchObject({ code: 0 });
    const verified = await inProcess('verify-proof', proof, '--key', scene.vkey);
    expect(verified.stdout).toContain(`${RECORD} was in snapshot 4 of ${NAME}`);
    expect(await inProcess('verify', '--out', scene.out)).toMatchObject({ code: 0 });
  });

  it('a build signs nothing of files that were edited, and verify goes on to name them', async () => {
    const scene = base.copyTo(path('edited'));
    edit(scene);
    await scene.build(price(40));
    expect((await inProcess('prove', scene.out, RECORD)).stderr).toContain(
      'not as signed snapshot 4 lists it',
    );
    const { code, stdout } = await inProcess('verify', '--out', scene.out);
    expect([code, stdout]).toEqual([1, expect.stringContaining('altered: api/v1/group/5.json\n')]);
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

  it('a witness that has cosigned one side of a fork leaves the other without a cosignature', async () => {
    const [scene, other] = [base.copyTo(path('side')), base.copyTo(path('other-side'))];
    const witness = await new Witness(publicKeyOf(base.vkey)).start();
    const asking = ['--witness', `${witness.url} ${witness.key.vkey}`];
    try {
      expect(await scene.build(price(40), ...asking)).toBe('');
      expect(await other.build(price(50), ...asking)).toContain(
        `witness ${witness.url} has not cosigned: it has cosigned another log of 4 entries`,
      );
    } finally {
      await witness.stop();
    }
    const cosigned = [scene, other].map(({ note }) => note.includes(`\u2014 ${witness.key.name} `));
    expect(cosigned).toEqual([true, false]);
  });
});
