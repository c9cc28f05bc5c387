/** A client of feeds: asks the proxy, reads with feedparser, and walks archives as RFC 5005 says. */
import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { z } from 'zod';
import type { RunningProxy } from '../../../support/proxy.js';
import { read } from './checkers.js';
import type { Parsed } from './checkers.js';

/** Where the register says that it is reached. */
export const BASE = 'https://api.golden.example';

const ATOM_TYPE = 'application/atom+xml; charset=utf-8';
const JSON_TYPE = 'application/feed+json; charset=utf-8';

const jsonFeed = z.object({
  version: z.literal('https://jsonfeed.org/version/1.1'),
  feed_url: z.string(),
  next_url: z.string().optional(),
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

  /** The current document and all archive documents, newest first, each linked to the next both ways. */
  async walk(url: string): Promise<readonly Fetched[]> {
    const texts: string[] = [];
    for (let next: string | undefined = url; next !== undefined;) {
      const text = await this.#text(next);
      texts.push(text);
      next = /<link rel="prev-archive" href="([^"]+)"/.exec(text)?.[1];
    }
    const documents = this.#read(texts);
    expectLinked(documents);
    return documents;
  }

  /** The current JSON Feed and all that `next_url` leads to, newest first. */
  async walkJson(url: string): Promise<readonly JsonFeed[]> {
    const found: JsonFeed[] = [];
    for (let next: string | undefined = url; next !== undefined; next = found.at(-1)?.next_url)
      found.push(jsonFeed.parse(JSON.parse(await this.#text(next, JSON_TYPE))));
    return found;
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

/** The current document and those of its archive, newest first, say what they are and where the next ones are. */
function expectLinked(documents: readonly Fetched[]): void {
  const current = documents[0]?.links['self'];
  for (const [index, { text, links }] of documents.entries()) {
    const later = index > 1 ? documents[index - 1]?.links['self'] : undefined;
    expect(text.includes('<fh:archive/>')).toBe(index > 0);
    expect(links['current']).toBe(index > 0 ? current : undefined);
    expect(links['next-archive']).toBe(later);
    expect(links['prev-archive']).toBe(documents[index + 1]?.links['self']);
  }
}
