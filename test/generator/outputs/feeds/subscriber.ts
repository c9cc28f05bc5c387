/** A client of feeds: asks the proxy, and reads with programs that nobody here wrote. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { PROJECT } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';
import type { RunningProxy } from '../../../support/proxy.js';

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
type Parsed = z.infer<typeof parsed>[number];

/** What feedparser reads in each file. */
function read(files: readonly string[]): readonly Parsed[] {
  const output = execFileSync('/usr/bin/python3', ['-c', READ, ...files], {
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES,
  });
  return parsed.parse(JSON.parse(output));
}

/** Where the register says that it is reached. */
export const BASE = 'https://api.golden.example';

const ATOM_TYPE = 'application/atom+xml; charset=utf-8';
const JSON_TYPE = 'application/feed+json; charset=utf-8';

const jsonFeed = z.object({
  version: z.literal('https://jsonfeed.org/version/1.1'),
  feed_url: z.string(),
  items: z.array(z.object({ id: z.string(), title: z.string(), url: z.string(), date_modified: z.string() })),
});
export type JsonFeed = z.infer<typeof jsonFeed>;

export interface Fetched extends Parsed {
  readonly text: string;
}

export class Subscriber {
  readonly #proxy: RunningProxy;
  readonly #path: (name: string) => string;

  constructor(proxy: RunningProxy, path: (name: string) => string) {
    this.#proxy = proxy;
    this.#path = path;
  }

  /** @param urls paths, or URLs of the register as its feeds have them */
  async atoms(urls: readonly string[]): Promise<readonly Fetched[]> {
    return this.#read(await Promise.all(urls.map((url) => this.#text(url))));
  }

  async json(url: string): Promise<JsonFeed> {
    return jsonFeed.parse(JSON.parse(await this.#text(url, JSON_TYPE)));
  }

  async #text(url: string, expected = ATOM_TYPE): Promise<string> {
    const answer = await this.#proxy.get(url.replace(BASE, ''));
    const type = answer.headers.get('content-type') ?? 'nothing';
    if (answer.status === 200 && type === expected) return answer.text();
    throw new Error(`${url} is answered by ${answer.status} and ${type}`);
  }

  #read(texts: readonly string[]): readonly Fetched[] {
    const files = texts.map((text) => {
      const file = this.#path('fetched.atom');
      writeFileSync(file, text);
      return file;
    });
    return read(files).map((parsed, index) => {
      if (parsed.bozo !== '') throw new Error(`feedparser finds fault with ${files[index]}: ${parsed.bozo}`);
      return { ...parsed, text: texts[index]! };
    });
  }
}
