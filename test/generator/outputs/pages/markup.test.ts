/** The pages as HTML: valid whatever names the register holds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import { describe, expect } from 'vitest';
import { temporary } from '../../../support/folder.js';
import type { Rows } from '../../../support/register.js';
import { siteOf } from '../../../support/site.js';
import { always as it, some } from '../../../support/thorough.js';
import { DOCUMENTATION_FILES, between } from './site.js';

const path = temporary();
const validator = new HtmlValidate({ extends: ['html-validate:recommended'] });
const OTHERS = 'index downloads feeds group item 404 429'.split(' ').map((name) => `${name}.html`);
const FILES = [...OTHERS, ...DOCUMENTATION_FILES];

async function complaintsOf(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`));
}

async function built(content: Rows | string): Promise<Record<string, string>> {
  const { out } = await siteOf(path, content);
  return Object.fromEntries(FILES.map((file) => [file, readFileSync(join(out, file), 'utf8')]));
}

const HOSTILE = '</script><script>alert(1)</script><!-- "\'& \u202Eרע מאוד';

describe('pages', () => {
  it('are valid without a single record', async () => {
    const files = await built('');
    // The documentation is the same but for its examples.
    for (const [file, html] of some(
      Object.entries(files).filter(([name]) => !name.includes('/')),
      4,
    ))
      expect(await complaintsOf(html), file).toEqual([]);
    expect(files['index.html']).toContain('Nothing has been measured yet.');
  });

  it('are valid with names that try to be markup, and isolate and escape them', async () => {
    const files = await built({
      groups: [
        { id: 1, name: HOSTILE, member_count: 5, description: '<!--<script>' },
        { id: 2, name: null, member_count: 4 },
        { id: 3, name: 'W'.repeat(400), member_count: 3 },
      ],
      group_member_readings: [1, 2, 3].map((day) => ({
        group_id: 1,
        measured_at: `2026-11-0${day}T08:00:00Z`,
        member_count: 2 + day,
      })),
      users: [{ id: 1, username: HOSTILE }],
    });
    for (const [file, html] of some(Object.entries(files), 9)) {
      expect(await complaintsOf(html), file).toEqual([]);
      expect(html, file).not.toContain('<script>alert');
    }
    expect(between(files['index.html'] ?? '', '<bdi>', '</bdi>')[0]).toBe(
      '&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- &quot;&#39;&amp; \u202Eרע מאוד',
    );
    expect(files['index.html']).toContain('Group 2');
  });
});
