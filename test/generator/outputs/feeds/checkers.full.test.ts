import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { atom } from '../../../../generator/outputs/feeds/render.js';
import { temporary } from '../../../support/folder.js';
import { HAS_CHECKERS, read, validate } from './checkers.js';
import type { Parsed } from './checkers.js';
import { NASTY } from './nasty.js';
import { IMPRINT, documentWith, imprintWith } from './nasty-document.js';

const path = temporary();

describe.skipIf(!HAS_CHECKERS)('a feed with a nasty text in every slot', () => {
  const files = NASTY.map(() => path('feed.atom'));
  let found: readonly Parsed[];
  beforeAll(() => {
    for (const [index, { text }] of NASTY.entries()) {
      writeFileSync(files[index]!, atom(documentWith(text, index), imprintWith(text)));
    }
    found = read(files);
  });

  it('is well-formed and keeps the schema of RFC 4287', () => {
    expect(() => validate(files)).not.toThrow();
  });

  it('would be refused if a text came through raw', () => {
    const file = path('raw.atom');
    writeFileSync(file, atom(documentWith('x', 1), IMPRINT).replace('>x<', '>\u0007<'));
    expect(() => validate([file])).toThrow('xmllint');
    writeFileSync(file, atom(documentWith('x', 1), IMPRINT).replaceAll('updated>', 'renewed>'));
    expect(() => validate([file])).toThrow('jing');
  });

  it.each(NASTY.map(({ what }, index) => [what, index] as const))('reads back %s', (_, index) => {
    const { shown } = NASTY[index]!;
    const { bozo, entries, title, subtitle, author, links } = found[index]!;
    expect(bozo).toBe('');
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ title: `“${shown}”`, facts: { To: shown } });
    // feedparser takes away outer white space of a feed's own texts.
    expect(title).toBe(trimmed(shown));
    expect(subtitle).toBe(trimmed(`x${shown}x`));
    expect(author).toBe(trimmed(`x${shown}x`));
    expect(links).toMatchObject({
      self: `https://api.golden.example/feeds/test-${index}.atom?a=1&b=2`,
      'prev-archive': 'https://api.golden.example/feeds/test/2026-10.atom?a=1&b=2',
    });
    expect(entries[0]?.links).toMatchObject({
      related: 'https://api.golden.example/group/7/history.json?a="<>"&b=2',
    });
  });
});

/** What Python's strip() takes away. */
const trimmed = (text: string): string =>
  text.replaceAll(/^[ \t\n\u00a0\u2028\u2029]+|[ \t\n\u00a0\u2028\u2029]+$/g, '');
