/** The texts of the log. */
import { describe, expect, it } from 'vitest';
import {
  bytesOfBase64,
  parseChunks,
  parsePages,
  parseRoutes,
} from '../../../../generator/programs/log/tlog/chunk-text.js';
import {
  entryText,
  parseCheckpoint,
  parseEntry,
  splitEntries,
} from '../../../../generator/programs/log/tlog/text.js';
import { flips, refusal } from './support.js';

const HASH = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=';
const DIGEST = 'ab'.repeat(32);

describe('the text of a checkpoint', () => {
  const text = `example.com/log\n12\n${HASH}\n`;
  const checkpoint = { origin: 'example.com/log', size: 12, root: HASH };

  it('may have spaces in the origin, extensions, and the size 0', () => {
    expect(parseCheckpoint(`${text}an extension\nanother\n`)).toEqual(checkpoint);
    const real = parseCheckpoint(`go.sum database tree\n0\n${HASH}\n`);
    expect(real).toEqual({ origin: 'go.sum database tree', size: 0, root: HASH });
  });

  it.each([
    ['no origin', `\n12\n${HASH}\n`],
    ['no end of line', text.slice(0, -1)],
    ['an empty extension', `${text}\nx\n`],
    ['a leading zero', text.replace('12', '012')],
    ['a size of 2^53', text.replace('12', '9007199254740992')],
    ['a root of 31 bytes', text.replace(HASH, Buffer.alloc(31).toString('base64'))],
    ['a root with bits that no byte uses', text.replace('2I=', '2J=')],
  ])('is refused with %s', (_, damaged) => {
    expect(refusal(() => parseCheckpoint(damaged))).toMatch(/expected/);
  });
});

/** The text of the entry that a text is read as; undefined if it is refused. */
const reread = (other: string): string | undefined =>
  refusal(() => parseEntry(other)) === undefined ? entryText(parseEntry(other)) : undefined;

/** The hash of a snapshot.json. */
const MANIFEST = 'b'.repeat(64);

describe('the text of an entry', () => {
  const text =
    'register-api/snapshot@v2\ntree efd62e2505583bf5\nsequence 12\nas_of 2026-11-20T07:59:20Z\n' +
    `documents 8874\ndigest ${DIGEST}\nmanifest ${MANIFEST}\n`;
  const entry = {
    tree: 'efd62e2505583bf5',
    sequence: 12,
    asOf: '2026-11-20T07:59:20Z',
    documents: 8874,
    digest: DIGEST,
    manifest: MANIFEST,
  };

  it('is canonical, both ways, with a measurement and without', () => {
    expect(entryText(entry)).toBe(text);
    expect(parseEntry(text)).toEqual(entry);
    const none = text.replace(/as_of .*/, 'as_of none');
    expect(parseEntry(none)).toEqual({ ...entry, asOf: null });
    expect(entryText({ ...entry, asOf: null })).toBe(none);
  });

  it('has other content with any bit flipped, if it is not refused', () => {
    const others = [...flips(Buffer.from(text))].map(({ flipped }) => flipped.toString());
    const accepted = others.filter((other) => reread(other) !== undefined);
    expect(accepted.map(reread)).toEqual(accepted);
    expect(accepted).not.toContain(text);
    expect(accepted.length).toBeLessThan(others.length / 2);
  });

  it.each([
    ['another version', text.replace('@v2', '@v3')],
    ['a line more', `${text}more\n`],
    ['no end of line', text.slice(0, -1)],
    ['a leading zero', text.replace('sequence 12', 'sequence 012')],
    ['a sequence beyond 2^53-1', text.replace('sequence 12', 'sequence 9007199254740993')],
  ])('is refused with %s', (_, damaged) => {
    expect(refusal(() => parseEntry(damaged))).toMatch(/expected/);
  });
});

const LISTS = Object.entries({ routes: parseRoutes, chunks: parseChunks, pages: parsePages });

it.each(LISTS)('a list of %s may be empty, and has lines of its form alone', (_, parse) => {
  expect(parse('')).toEqual([]);
  const lines = [`45 256 ${HASH}`, `45 ${HASH} \n`, `../x 1 ${HASH}\n`, `.x 1 ${HASH}\n`, `a 01 ${HASH}\n`];
  for (const text of ['\n', ' \n', 'x\n', ...lines]) expect(refusal(() => parse(text))).toMatch(/expected/);
});

it('a bundle of entries is refused if it is cut', () => {
  for (const hex of ['00', '0001', '00036f6e', '00036f6e6500', '0000ff'])
    expect(refusal(() => splitEntries(Buffer.from(hex, 'hex')))).toBe('the bundle of entries is cut');
});

it('base64 has one form only', () => {
  for (const text of ['A', 'AAA', 'AB==', 'AAB=', 'AA==\n', 'A A=', 'AA==AA==', 'AA-_', 'AAAA=', 'é'])
    expect(
      refusal(() => bytesOfBase64(text)),
      text,
    ).toMatch(/expected base64/);
});
