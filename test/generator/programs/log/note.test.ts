/** Signed notes and keys. */
import { describe, expect } from 'vitest';
import { always as it, oneIn } from '../../../support/thorough.js';
import { openNote } from '../../../../generator/programs/log/tlog/note.js';
import { generateSigner, parseSigner, parseVerifier } from '../../../../generator/base/keys.js';
import { base64Of } from '../../../../generator/programs/log/tlog/chunk-text.js';
import { flips, refusal } from './support.js';

/** Of Go's sumdb/note. */
const PETER = {
  skey: 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  vkey: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  line: '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};
const peter = parseVerifier(PETER.vkey);
const signed = `${PETER.text}\n${PETER.line}`;

/** Notes of others, with the key that signed them. */
const REAL = [
  [
    'the specification',
    'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
    'This is an example message.\n',
    'example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=',
  ],
  [
    'sum.golang.org',
    'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8',
    'go.sum database tree\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n',
    'sum.golang.org Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=',
  ],
] as const;

/** A signature of a key that nobody knows. */
const unknown = (index: number): string => `— example.com/${index} ${base64Of(Buffer.alloc(2424, index))}\n`;

describe('a note', () => {
  it.each(REAL)('of %s is opened', (_, vkey, text, line) => {
    const verifier = parseVerifier(vkey);
    const opened = openNote(`${text}\n— ${line}\n`, [verifier]);
    expect(opened).toEqual({ text, verified: [verifier], lines: [`— ${line}`] });
  });

  it('is opened from bytes as from a text, and may have empty lines', () => {
    expect(openNote(Buffer.from(signed), [peter]).text).toBe(PETER.text);
    const signer = parseSigner(PETER.skey);
    for (const text of ['\n', '\n\n\n', 'a\n\nb\n', 'a\n\n', 'ä — \u{1f600}\n', '\u{feff}x\n']) {
      expect(openNote(`${text}\n${signer.sign(text)}`, [peter]).text).toBe(text);
    }
  });

  it('with any bit flipped is refused', () => {
    const all = [...oneIn(5, flips(Buffer.from(signed)))];
    expect(all.filter(({ flipped }) => refusal(() => openNote(flipped, [peter])) === undefined)).toEqual([]);
  });

  it('may have signatures of unknown keys: 100 in all, of any type', () => {
    const others = Array.from({ length: 99 }, (_, index) => unknown(index));
    const opened = openNote(`${PETER.text}\n${others.join('')}${PETER.line}`, [peter]);
    expect(opened.verified).toEqual([peter]);
    expect(opened.lines).toEqual([PETER.line.trimEnd()]);
    const tooMany = `${PETER.text}\n${others.join('')}${unknown(100)}${PETER.line}`;
    expect(refusal(() => openNote(tooMany, [peter]))).toBe(
      'the note is malformed: expected 1 to 100 lines of signatures, each with an end of line',
    );
  });

  it('may have a signature of the name of a known key and another id, or the other way round', () => {
    const [, encoded = ''] = /(\S+)\n$/.exec(PETER.line) ?? [];
    const bytes = Buffer.from(encoded, 'base64');
    bytes[0]! ^= 1;
    const others = `— PeterNeumann ${base64Of(bytes)}\n— Other ${encoded}\n`;
    expect(openNote(`${signed}${others}`, [peter]).verified).toEqual([peter]);
    expect(refusal(() => openNote(`${PETER.text}\n${others}`, [peter]))).toBe(
      'the note is not signed by the expected key: PeterNeumann+c74f20a3',
    );
  });

  it('is refused if one of several known keys fails, in any order', () => {
    const [one, two] = [parseSigner(generateSigner('one')), parseSigner(generateSigner('two'))];
    const verifiers = [one, two].map(({ vkey }) => parseVerifier(vkey));
    const [good, bad] = [one.sign('a\n'), two.sign('b\n')];
    expect(openNote(`a\n\n${good}`, verifiers).verified).toEqual([verifiers[0]]);
    expect(openNote(`a\n\n${two.sign('a\n')}${good}`, verifiers).verified).toHaveLength(2);
    for (const lines of [good + bad, bad + good]) {
      const reason = refusal(() => openNote(`a\n\n${lines}`, verifiers));
      expect(reason).toMatch(/^the signature of two\+\w{8} is wrong/);
      expect(openNote(`a\n\n${lines}`, verifiers.slice(0, 1)).verified).toHaveLength(1);
    }
    // The second signature of a key counts as much as its first.
    expect(refusal(() => openNote(`a\n\n${good}${one.sign('b\n')}`, verifiers))).toMatch(/is wrong/);
    expect(openNote(`a\n\n${good}${good}`, verifiers).verified).toHaveLength(1);
  });

  const line = PETER.line;
  it.each([
    ['no empty line', PETER.text + line],
    ['no text', `\n${line}`],
    ['no end of line', signed.slice(0, -1)],
    ['text at the end', `${signed}trailing\n`],
    ['CR LF', signed.replaceAll('\n', '\r\n')],
    ['a NUL', signed.replace('you', 'y\0u')],
    ['a hyphen for the dash', signed.replace('—', '-')],
    ['no name', signed.replace('PeterNeumann ', '')],
    ['a plus in a name', `${signed}— a+b AAAAAAA=\n`],
    ['a space of Unicode in a name', `${signed}— a\u{2003}b AAAAAAA=\n`],
    ['no base64', signed.replace(/ x08.*/, ' ')],
    ['bits that no byte uses', signed.replace('AM=', 'AN=')],
    ['a second base64', signed.replace('AM=', 'AM= AA==')],
  ])('is refused with %s', (_, note) => {
    expect(refusal(() => openNote(note, [peter]))).toMatch(/expected/);
  });

  it('is refused with a control character, even if that is signed', () => {
    const signer = parseSigner(PETER.skey);
    const codes = Array.from({ length: 0x21 }, (_, code) => code);
    const texts = [...codes, 0x7f].map((code) => `a${String.fromCharCode(code)}b\n`);
    const opened = texts.filter(
      (text) => refusal(() => openNote(`${text}\n${signer.sign(text)}`, [peter])) === undefined,
    );
    expect(opened).toEqual(['a\nb\n', 'a b\n', 'a\u{7f}b\n']);
  });

  it('is refused if it is not UTF-8', () => {
    for (const bytes of ['ff', 'c0af', 'eda080', 'e28094e2']) {
      const note = Buffer.concat([Buffer.from(bytes, 'hex'), Buffer.from(signed)]);
      expect(refusal(() => openNote(note, [peter]))).toBe('the note is malformed: expected UTF-8');
    }
  });
});

describe('a key', () => {
  it('signs as Go does', () => {
    const signer = parseSigner(PETER.skey);
    expect(signer).toMatchObject({ name: 'PeterNeumann', vkey: PETER.vkey });
    expect(signer.sign(PETER.text)).toBe(PETER.line);
  });

  it.each([
    ['public', PETER.vkey, parseVerifier],
    ['private', PETER.skey, parseSigner],
  ] as const)('(%s) is refused if cut anywhere, or with any byte one higher', (_, key, parse) => {
    parse(key);
    const bytes = Buffer.from(key);
    const others = [...bytes.keys()].flatMap((at) => [
      key.slice(at + 1),
      key.slice(0, at),
      Buffer.from(bytes.with(at, bytes[at]! + 1)).toString(),
    ]);
    for (const other of [...others, `${key}\n`]) {
      const reason = refusal(() => parse(other));
      expect(reason).toMatch(/key is invalid: /);
      // Nor is a secret in the message.
      expect(reason).not.toContain(key.slice(-40, -30));
    }
  });
});
