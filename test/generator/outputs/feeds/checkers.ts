/** Programs that nobody here wrote, which say whether a feed is one and what they read in it. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import { PROJECT } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';

/** Whether this machine has them. */
export const HAS_CHECKERS = has('feeds as others read them', 'xmllint', 'jing', 'feedparser');

const SCHEMA = join(PROJECT, 'test/generator/outputs/feeds/atom.rnc');
const OUTPUT_BYTES = 256 * 1024 * 1024;

/** Well-formed XML that keeps the schema of RFC 4287; what is wrong is thrown. */
export function validate(files: readonly string[]): void {
  execFileSync('xmllint', ['--noout', ...files], { stdio: 'pipe' });
  execFileSync('jing', ['-c', SCHEMA, ...files], { stdio: 'pipe' });
}

/** feedparser, asked not to clean or resolve anything; HTML values are given as text, as a browser shows it. */
const READ = `
import feedparser, html.parser, json, sys
feedparser.SANITIZE_HTML = 0
feedparser.RESOLVE_RELATIVE_URIS = 0
class Text(html.parser.HTMLParser):
    def __init__(self, markup):
        super().__init__(convert_charrefs=True)
        self.words, self.facts, self.open = [], [], None
        self.feed(markup)
        self.close()
    def handle_starttag(self, tag, attrs):
        if tag in ('dt', 'dd'): self.facts.append('')
        self.open = tag
    def handle_data(self, data):
        self.words.append(data)
        if self.facts and self.inside: self.facts[-1] += data
    @property
    def inside(self):
        return self.open in ('dt', 'dd', 'bdi')
    def handle_endtag(self, tag):
        if tag in ('dt', 'dd'): self.open = None
feeds = []
for file in sys.argv[1:]:
    with open(file, 'rb') as stream:
        feed = feedparser.parse(stream.read())
    entries = []
    for entry in feed.entries:
        facts = Text(entry.content[0].value).facts
        entries.append({
            'id': entry.id, 'title': ''.join(Text(entry.title).words), 'updated': entry.updated,
            'facts': dict(zip(facts[::2], facts[1::2])),
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
export type Parsed = z.infer<typeof parsed>[number];

/** What feedparser reads in each file. */
export function read(files: readonly string[]): readonly Parsed[] {
  const output = execFileSync('/usr/bin/python3', ['-c', READ, ...files], {
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES,
  });
  return parsed.parse(JSON.parse(output));
}
