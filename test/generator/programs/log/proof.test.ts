/** Proofs of documents: a log, a tree of chunks and a document, put together as the format says. */
import { hash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { always as it, oneIn } from '../../../support/thorough.js';
import { headOf } from '../../../../generator/programs/log/log-files.js';
import { leafHash } from '../../../../generator/programs/log/tlog/merkle.js';
import { generateSigner, parseSigner, parseVerifier } from '../../../../generator/base/keys.js';
import {
  proofText,
  checkpointText,
  entryText,
  type Proof,
} from '../../../../generator/programs/log/tlog/text.js';
import { parseProof, verifyProof } from '../../../../generator/programs/log/tlog/proof.js';
import { routeLine } from '../../../../generator/tree/digest.js';
import { temporary } from '../../../support/folder.js';
import { rootOf as naiveHead } from './naive.js';
import { flips, inclusionProof, makeLog, refusal } from './support.js';

const path = temporary();
const sha256 = (text: string): string => hash('sha256', text);

const BODY = '{"id":45,"name":"Gröüp \u{1f600}"}\n';
const SHA256 = sha256(BODY);

/** Five chunks of three documents; the body is that of /api/v1/group/45 in the fourth. */
const chunks = Array.from({ length: 5 }, (_, chunk) =>
  [0, 1, 2]
    .map((document) => chunk * 14 + document + 2)
    .map((id) => `${id === 45 ? SHA256 : sha256(`body of ${id}`)}  /api/v1/group/${id}\n`)
    .join(''),
);
const chunkHeads = (level: number, n: number): Buffer =>
  naiveHead(chunks.slice(n * 2 ** level, (n + 1) * 2 ** level));

const routes =
  routeLine({ name: 'index', count: 1, root: leafHash('x').toString('base64') }) +
  routeLine({ name: 'group', count: 15, root: naiveHead(chunks).toString('base64') });

const entryOf = (sequence: number): string =>
  entryText({
    tree: 'efd62e2505583bf5',
    sequence,
    asOf: '2026-11-20T07:59:20Z',
    documents: 16,
    digest: sequence === 12 ? sha256(routes) : sha256(`routes of ${sequence}`),
    manifest: sha256(`snapshot.json of ${sequence}`),
  });

/** Entry 11 is that of snapshot 12. */
const folder = path('log');
const roots = makeLog(
  folder,
  Array.from({ length: 21 }, (_, index) => entryOf(index + 1)),
);

const signer = parseSigner(generateSigner('example.com/log'));
const key = parseVerifier(signer.vkey);
const text = checkpointText({ origin: 'example.com/log', size: 21, root: roots[21]!.toString('base64') });
const base64 = (hashes: readonly Buffer[]): string[] => hashes.map((each) => each.toString('base64'));

const proof: Proof = {
  index: 11,
  hashes: base64(inclusionProof(11, 21, headOf(folder, 21))),
  checkpoint: `${text}\n${signer.sign(text)}`,
  document: {
    path: '/api/v1/group/45',
    body: BODY,
    chunk: chunks[3]!,
    leaf: 3,
    leaves: 5,
    hashes: base64(inclusionProof(3, 5, chunkHeads)),
    route: 'group',
    routes,
    entry: entryOf(12),
  },
};
const file = proofText(proof);
const of = (document: Partial<Proof['document']>, others: Partial<Proof> = {}): string =>
  proofText({ ...proof, ...others, document: { ...proof.document, ...document } });

/** A proof in a log of one entry, with one route of one chunk. */
function only(chunk: string, document: Partial<Proof['document']>): string {
  const line = routeLine({ name: 'group', count: 3, root: leafHash(chunk).toString('base64') });
  const entry = entryText({
    tree: '0'.repeat(16),
    sequence: 1,
    asOf: null,
    documents: 3,
    digest: sha256(line),
    manifest: sha256('snapshot.json'),
  });
  const root = leafHash(entry).toString('base64');
  const note = checkpointText({ origin: 'example.com/log', size: 1, root });
  const checkpoint = `${note}\n${signer.sign(note)}`;
  const path = { chunk, leaf: 0, leaves: 1, hashes: [], routes: line, entry };
  return of({ ...path, ...document }, { index: 0, hashes: [], checkpoint });
}

describe('a proof', () => {
  it('is a text as C2SP tlog-proof has it', () => {
    const [first, extra = '', index, ...rest] = file.split('\n');
    expect([first, index]).toEqual(['c2sp.org/tlog-proof@v1', 'index 11']);
    expect(JSON.parse(Buffer.from(extra.replace('extra ', ''), 'base64').toString())).toEqual({
      type: 'register-api/document@v1',
      ...proof.document,
    });
    expect(rest.join('\n')).toBe(`${proof.hashes.join('\n')}\n\n${proof.checkpoint}`);
    expect(parseProof(file)).toEqual(proof);
  });

  it('shows what was published when, and who signed it', () => {
    const shown = {
      path: '/api/v1/group/45',
      sha256: SHA256,
      tree: 'efd62e2505583bf5',
      sequence: 12,
      asOf: '2026-11-20T07:59:20Z',
      origin: 'example.com/log',
      index: 11,
      signedBy: [`example.com/log+${key.id}`],
      isBodyIncluded: true,
    };
    expect(verifyProof(file, [key])).toEqual(shown);
    expect(verifyProof(file, [key], Buffer.from(BODY))).toEqual(shown);
    expect(verifyProof(of({ body: null }), [key])).toEqual({ ...shown, isBodyIncluded: false });
    expect(verifyProof(of({ body: null }), [key], Buffer.from(BODY))).toEqual({
      ...shown,
      isBodyIncluded: false,
    });
  });

  it('is refused if the chunk has the document twice, or without a SHA-256', () => {
    const reason = 'the chunk is not of the document: expected one line with its SHA-256 and path';
    const twice = `${sha256('x')}  /api/v1/group/45\n${chunks[3]}`;
    expect(refusal(() => verifyProof(only(twice, {}), [key]))).toBe(reason);
    const without = `${'x'.repeat(64)}  /api/v1/group/45\n`;
    expect(refusal(() => verifyProof(only(without, { body: null }), [key]))).toBe(reason);
  });

  it('is refused if its JSON has more members, or is not UTF-8', () => {
    const reason = 'the proof is invalid: expected extra with the JSON of register-api/document@v1';
    const body = 'a\u{fffd}';
    const sound = only(`${sha256(body)}  /api/v1/group/45\n`, { body });
    // There need be no hashes: it is the only chunk of its route, and the only entry of its log.
    expect(verifyProof(sound, [key])).toMatchObject({ sha256: sha256(body), sequence: 1, asOf: null });
    const extra = Buffer.from(/extra (.*)/.exec(sound)![1]!, 'base64').toString('latin1');
    for (const other of [extra.replace('}', ',"more":1}'), extra.replace('\xef\xbf\xbd', '\xff')]) {
      expect(other).not.toBe(extra);
      const encoded = Buffer.from(other, 'latin1').toString('base64');
      expect(refusal(() => verifyProof(sound.replace(/extra .*/, `extra ${encoded}`), [key]))).toBe(reason);
    }
  });

  /**
   * A flipped bit may matter to nobody in two places: in the number of chunks, which no hash covers
   * (the position of the chunk follows from the hashes, and is not shown), and in a signature of an
   * unknown key, of which there is none here.
   */
  it('with any bit flipped is refused, but for the number of chunks', () => {
    for (const { at, bit, flipped } of oneIn(5, flips(Buffer.from(file)))) {
      const other = flipped.toString();
      if (refusal(() => verifyProof(other, [key])) !== undefined) continue;
      const { leaf, leaves, ...rest } = parseProof(other).document;
      const { leaf: _, leaves: __, ...expected } = proof.document;
      expect({ rest, at, bit }).toEqual({ rest: expected, at, bit });
      expect([leaf, leaves]).not.toEqual([3, 5]);
    }
    // In base64 a bit is one of the JSON; here each bit of that.
    const json = Buffer.from(/extra (.*)/.exec(file)![1]!, 'base64');
    for (const { at, bit, flipped } of oneIn(5, flips(json))) {
      const other = file.replace(/extra .*/, `extra ${flipped.toString('base64')}`);
      if (refusal(() => verifyProof(other, [key])) !== undefined) continue;
      const { leaf, leaves } = parseProof(other).document;
      expect([leaf, leaves], `byte ${at}, bit ${bit}`).not.toEqual([3, 5]);
    }
  });

  const otherKey = parseSigner(generateSigner('example.com/log'));
  const foreign = parseSigner(generateSigner('example.com/other'));

  it('is refused without the key of its log', () => {
    expect(refusal(() => verifyProof(file, []))).toMatch(/not signed by the expected key/);
    expect(refusal(() => verifyProof(file, [parseVerifier(otherKey.vkey)]))).toMatch(
      /not signed by the expected key/,
    );
    // Somebody else's signature, who is known too, doesn't make it a checkpoint of the log.
    const signed = of({}, { checkpoint: `${text}\n${foreign.sign(text)}` });
    expect(refusal(() => verifyProof(signed, [key, parseVerifier(foreign.vkey)]))).toBe(
      'the checkpoint is not signed by the key of its log: expected a key named as its origin',
    );
  });

  it('names all known keys that signed, such as both while one replaces the other', () => {
    const both = of(
      {},
      { checkpoint: `${text}\n${signer.sign(text)}${otherKey.sign(text)}${foreign.sign(text)}` },
    );
    const keys = [signer, otherKey, foreign].map(({ vkey }) => parseVerifier(vkey));
    expect(verifyProof(both, keys).signedBy).toEqual(keys.map(({ name, id }) => `${name}+${id}`));
    expect(verifyProof(both, keys.slice(1, 2)).signedBy).toHaveLength(1);
  });

  const NOT_OF_12 = 'the content is not that of snapshot 12: expected the SHA-256 ';
  const NO_CHUNK = 'the chunk is not in the route group of snapshot 12';
  const NO_ENTRY = 'the entry of snapshot 12 is not in the log at ';
  const INVALID = 'the proof is invalid: ';
  const NO_JSON = 'the proof is invalid: expected extra with the JSON';
  const extra = (encoded: string): string => file.replace(/extra .*/, `extra ${encoded}`);
  it.each([
    ['another body', of({ body: `${BODY} ` }), NOT_OF_12 + SHA256],
    ['another path', of({ path: '/api/v1/group/46' }), NOT_OF_12],
    ['a part of a path', of({ path: 'roup/45' }), 'the chunk is not of the document: '],
    ['another chunk', of({ chunk: chunks[2]! }), NO_CHUNK],
    ['another route', of({ route: 'index' }), 'the chunk is not in the route index of snapshot 12'],
    ['an unknown route', of({ route: 'user' }), 'snapshot 12 has no such route'],
    ['an index beyond the log', of({}, { index: 21 }), `${NO_ENTRY}21`],
    [
      'another checkpoint',
      of({}, { checkpoint: proof.checkpoint.replace('\n21\n', '\n20\n') }),
      'the signature of example.com/log+',
    ],
    ['a leading zero', file.replace('index 11', 'index 011'), INVALID],
    ['extra that is no JSON', extra('AAAA'), NO_JSON],
  ])('is refused with %s', (_, altered, reason) => {
    expect(refusal(() => verifyProof(altered, [key]))?.startsWith(reason)).toBe(true);
  });

  it('is refused with another body than the one to compare', () => {
    for (const body of [BODY, null]) {
      expect(refusal(() => verifyProof(of({ body }), [key], Buffer.from('x')))).toBe(
        `the document to compare is not that of snapshot 12: expected the SHA-256 ${SHA256}`,
      );
    }
  });
});
