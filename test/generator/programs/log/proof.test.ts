/** Proofs of documents that somebody has altered, or put together otherwise. */
import { describe, expect } from 'vitest';
import { always as it, oneIn } from '../../../support/thorough.js';
import { parseVerifier } from '../../../../generator/base/keys.js';
import { proofText, type Proof } from '../../../../generator/programs/log/tlog/text.js';
import { parseProof, verifyProof } from '../../../../generator/programs/log/tlog/proof.js';
import { prove } from '../../../../generator/programs/log/tlog/prove.js';
import { endsChunk, sha256 } from '../../publish/support.js';
import { Memory, group, key, range } from './memory.js';
import { base64, leafOf, newKey } from './naive.js';
import { ORIGIN, checkpointOf, entryOf } from './signed.js';
import { flips, refusal } from './support.js';

const verifier = parseVerifier(key.vkey);
const BODY = '{"name":"Gröüp \u{1f600}"}\n';

/** Five chunks of three documents; the proof is of one in the fourth. */
const starts = range(5000)
  .filter((id) => endsChunk(BigInt(id)))
  .slice(0, 5);
const ID = starts[3]! + 1;
const PATH = `/group/${ID}`;
const ids = starts.flatMap((id) => [id, id + 1, id + 2]);
const documents = Object.fromEntries(ids.map((id): [string, string] => [`/group/${id}`, `body of ${id}`]));
const memory = new Memory({ ...documents, [PATH]: BODY }, 12);
const { text: file } = await prove(group(ID), memory);
const proof = parseProof(file);
const [text = ''] = proof.checkpoint.split('\n\n').map((part) => `${part}\n`);

const of = (document: Partial<Proof['document']>, others: Partial<Proof> = {}): string =>
  proofText({ ...proof, ...others, document: { ...proof.document, ...document } });

/** A proof in a log of one entry, with one route of one chunk. */
function only(chunk: string, document: Partial<Proof['document']> = {}): string {
  const routes = `group 3 ${base64(leafOf(chunk))}\n`;
  const entry = entryOf('0'.repeat(16), 1, null, 3, sha256(routes), sha256('snapshot.json'));
  const checkpoint = key.note(checkpointOf(ORIGIN, [entry]));
  const place = { chunk, leaf: 0, leaves: 1, hashes: [], routes, entry };
  return of({ ...place, ...document }, { index: 0, hashes: [], checkpoint });
}

const NOT_OF_12 = 'the content is not that of snapshot 12: expected the SHA-256 ';
const NO_LINE = 'the chunk is not of the document: expected one line with its SHA-256 and path';
const NO_JSON = 'the proof is invalid: expected extra with the JSON of register-api/document@v1';
const json = Buffer.from(/extra (.*)/.exec(file)![1]!, 'base64');
const withJson = (other: string | Buffer): string =>
  file.replace(/extra .*/, `extra ${Buffer.from(other).toString('base64')}`);

describe('a proof', () => {
  it('holds without hashes where its chunk and its entry are the only ones', () => {
    const sound = only(`${sha256(BODY)}  ${PATH}\n`);
    expect(verifyProof(sound, [verifier])).toMatchObject({ sequence: 1, asOf: null });
  });

  it.each([
    ['another body', of({ body: `${BODY} ` }), NOT_OF_12 + sha256(BODY)],
    ['another path', of({ path: `/group/${ID + 1}` }), NOT_OF_12],
    ['a part of a path', of({ path: PATH.slice(2) }), NO_LINE],
    ['another chunk', of({ chunk: '' }), 'the chunk is not in the route group of snapshot 12'],
    ['a chunk that has it twice', only(`${sha256('x')}  ${PATH}\n${proof.document.chunk}`), NO_LINE],
    ['a chunk without a SHA-256', only(`${'x'.repeat(64)}  ${PATH}\n`, { body: null }), NO_LINE],
    ['another route', of({ route: 'none' }), 'the chunk is not in the route none of snapshot 12'],
    ['an unknown route', of({ route: 'user' }), 'snapshot 12 has no such route'],
    ['other routes', of({ routes: '' }), 'the routes are not those of snapshot 12'],
    ['an index beyond the log', of({}, { index: 12 }), 'the entry of snapshot 12 is not in the log at 12'],
    [
      'another checkpoint',
      of({}, { checkpoint: proof.checkpoint.replace('\n12\n', '\n11\n') }),
      `the signature of ${ORIGIN}+`,
    ],
    ['a leading zero', file.replace('index 11', 'index 011'), 'the proof is invalid: '],
    ['extra that is no JSON', withJson('x'), NO_JSON],
    ['more members', withJson(json.toString().replace(/\}$/, ',"more":1}')), NO_JSON],
    ['text that is not UTF-8', withJson(Buffer.from(json.with(json.indexOf('\u{1f600}'), 0xff))), NO_JSON],
  ])('is refused with %s', (_, altered, reason) => {
    expect(refusal(() => verifyProof(altered, [verifier]))?.slice(0, reason.length)).toBe(reason);
  });

  /**
   * A flipped bit may matter to nobody in two places: in the number of chunks, which no hash covers
   * (the position of the chunk follows from the hashes, and is not shown), and in a signature of an
   * unknown key, of which there is none here.
   */
  it('with any bit flipped is refused, but for the number of chunks', () => {
    // In base64 a bit is one of the JSON; there, each bit of that.
    const flipped = [
      ...[...oneIn(5, flips(Buffer.from(file)))].map((each) => each.flipped.toString()),
      ...[...oneIn(5, flips(json))].map((each) => withJson(each.flipped)),
    ];
    for (const other of flipped.filter(
      (each) => refusal(() => verifyProof(each, [verifier])) === undefined,
    )) {
      const { leaf, leaves, ...rest } = parseProof(other).document;
      const { leaf: _, leaves: __, ...expected } = proof.document;
      expect(rest).toEqual(expected);
      expect([leaf, leaves]).not.toEqual([3, 5]);
    }
  });

  it('needs the key of its log, and names all known keys that signed', () => {
    const [other, foreign] = [newKey(ORIGIN, 1), newKey('example.com/other', 1)];
    const keys = [key, other, foreign].map(({ vkey }) => parseVerifier(vkey));
    const signatures = [key, other, foreign].map((each) => each.signature(text));
    const checkpoint = `${text}\n${signatures.join('')}`;
    const all = verifyProof(of({}, { checkpoint }), keys);
    expect(all.signedBy).toEqual(keys.map(({ name, id }) => `${name}+${id}`));
    expect(verifyProof(of({}, { checkpoint }), keys.slice(1, 2)).signedBy).toHaveLength(1);
    for (const known of [[], keys.slice(1)])
      expect(refusal(() => verifyProof(file, known))).toMatch(/not signed by the expected key/);
    // Somebody else's signature, who is known too, doesn't make it a checkpoint of the log.
    const signed = of({}, { checkpoint: `${text}\n${foreign.signature(text)}` });
    expect(refusal(() => verifyProof(signed, keys))).toBe(
      'the checkpoint is not signed by the key of its log: expected a key named as its origin',
    );
  });
});
