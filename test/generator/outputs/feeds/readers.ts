/** Programs that nobody here wrote, which read feeds. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import * as z from 'zod';
import { PROJECT } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';

/** Whether this machine has them. */
export const HAS_READERS = has('feeds as others read them', 'xmllint', 'jing', 'feedparser');

const SCHEMA = join(PROJECT, 'test/generator/outputs/feeds/atom.rnc');
const OUTPUT_BYTES = 256 * 1024 * 1024;

/** Well-formed XML that keeps the schema of RFC 4287; what is wrong is thrown. */
export function validate(files: readonly string[]): void {
  execFileSync('xmllint', ['--noout', ...files], { stdio: 'pipe' });
  execFileSync('jing', ['-c', SCHEMA, ...files], { stdio: 'pipe' });
}

/** feedparser, asked not to clean or resolve anything; HTML values are given as text, as a browser shows it. */
const READ = `
import feedparser, html, json, re, sys
feedparser.SANITIZE_HTML = 0
feedparser.RESOLVE_RELATIVE_URIS = 0
def text(markup):
    return html.unescape(re.sub('<[^>]*>', '', markup))
def facts(markup):
    return {text(name): text(value) for name, value in re.findall('<dt>(.*?)</dt>.*?<dd>(.*?)</dd>', markup, re.S)}
feeds = []
for file in sys.argv[1:]:
    with open(file, 'rb') as stream:
        feed = feedparser.parse(stream.read())
    entries = []
    for entry in feed.entries:
        entries.append({
            'id': entry.id, 'title': text(entry.title), 'updated': entry.updated,
            'facts': facts(entry.content[0].value),
            'links': {link.rel: link.href for link in entry.links},
            'related': [link.href for link in entry.links if link.rel == 'related'],
        })
    feeds.append({
        'bozo': str(feed.get('bozo_exception', '')), 'title': feed.feed.title,
        'author': feed.feed.author_detail.name, 'updated': feed.feed.updated,
        'links': {link.rel: link.href for link in feed.feed.links}, 'entries': entries,
    })
json.dump(feeds, sys.stdout)
`;

const links = z.record(z.string(), z.string());
const parsed = z.array(
  z.object({
    bozo: z.string(),
    title: z.string(),
    author: z.string(),
    updated: z.string(),
    links,
    entries: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        updated: z.string(),
        facts: z.record(z.string(), z.string()),
        links,
        /** Those of which there can be more than one. */
        related: z.array(z.string()),
      }),
    ),
  }),
);
export type Read = z.infer<typeof parsed>[number];

/** What feedparser reads in each file; what it finds fault with is thrown. */
export function readBy(files: readonly string[]): readonly Read[] {
  const options = { encoding: 'utf8', maxBuffer: OUTPUT_BYTES } as const;
  const feeds = parsed.parse(JSON.parse(execFileSync('/usr/bin/python3', ['-c', READ, ...files], options)));
  for (const [index, { bozo }] of feeds.entries())
    if (bozo !== '') throw new Error(`feedparser finds fault with ${files[index]}: ${bozo}`);
  return feeds;
}
