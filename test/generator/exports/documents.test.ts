/** Lines of documents, put together in one compressed file. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { joinLines, otherLine } from '../../../generator/exports/documents.js';
import { temporary } from '../../support/folder.js';
import { sha256 } from '../../support/published.js';
import { writeRegister } from '../../support/register.js';
import { contextOf } from './support.js';

const path = temporary();

it('parts are joined in their order and counted', () => {
  const context = contextOf(writeRegister(path('register.sqlite'), ''));
  // A line may be longer than what is read at once.
  const contents = ['{"id":1}\n{"id":2}\n', '', `{"id":3,"name":"${'🦊'.repeat(50_000)}"}\n`];
  const parts = contents.map((content, index) => {
    const part = path(`part-${index}`);
    writeFileSync(part, content);
    return part;
  });
  const file = path('out/documents/group.ndjson.gz');
  const written = joinLines(context, { parts, file });
  const compressed = readFileSync(file);
  expect(gunzipSync(compressed).toString()).toBe(contents.join(''));
  expect(written).toEqual({ bytes: compressed.length, sha256: sha256(compressed), rows: 3 });
  expect(context.steps).toBe(3);
});

it('a line of another document has its path, hash, size and body, and no body of what is no text', () => {
  for (const [content, body] of [
    [Buffer.from('\ufeff<p>é\u2028\u0000'), '\ufeff<p>é\u2028\u0000'],
    [Buffer.from([0xff, 0xfe, 0, 1]), undefined],
  ] as const) {
    const hash = createHash('sha256').update(content).digest('hex');
    const line = otherLine('/a.html', hash, content);
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toEqual({
      path: '/a.html',
      sha256: hash,
      bytes: content.length,
      ...(body !== undefined && { body }),
    });
  }
});
