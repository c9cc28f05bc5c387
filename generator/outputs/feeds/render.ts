/**
 * Renders feeds with the `feed` package (version 6), and works around its gaps:
 * - It copies into CDATA what XML can't contain, and splits only the first `]]>`. So all text is
 *   made legible, and titles and content are HTML with every `>` of a value escaped.
 * - It reads `&amp;` in element text as `&`, so such text is escaped once beforehand.
 * - It does not escape `<` in categories, which are not used.
 * - It lacks several links per entry, the link to the licence, and the language of Atom feeds: inserted.
 * - It writes JSON Feed 1, with `author` instead of `authors`: converted to 1.1.
 * - It writes milliseconds, which no reading has: removed.
 */
import { Feed } from 'feed';
import * as z from 'zod';
import { PATHS } from '../../routes/paths.js';
import { termsText } from '../licence.js';
import type { FeedEntry, FeedDocument, FeedOperator } from './document.js';
import { escaped, legible } from './text.js';

const LANGUAGE = 'en';
const GENERATOR = 'register-api';

const link = (rel: string, url: string, type?: string): string =>
  `<link rel="${rel}" href="${escaped(url)}"${type === undefined ? '' : ` type="${type}"`}/>`;

/** The document as Atom (RFC 4287). */
export function atom(document: FeedDocument, operator: FeedOperator): string {
  const feed = started(document, operator, (text) => legible(text).replaceAll('&', '&amp;'));
  for (const { id, title, content, published, url } of document.entries) {
    const date = new Date(published);
    feed.addItem({ id, title: escaped(title), content, published: date, date, link: url });
  }
  return withRelated(withHead(feed.atom1(), operator), document.entries).replaceAll(
    /\.000Z<\/(updated|published)>/g,
    'Z</$1>',
  );
}

const START = '<feed xmlns="http://www.w3.org/2005/Atom">';

function withHead(xml: string, { licence }: FeedOperator): string {
  const [declaration, rest, ...more] = xml.split(START);
  if (rest === undefined || more.length > 0) throw new TypeError(`expected one "${START}" in the feed`);
  const start = `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${LANGUAGE}">`;
  return `${declaration ?? ''}${start}\n    ${link('license', licence.url)}${rest}`;
}

const ENTRY = '<entry>';

/** Inserts the links to documents. Texts can't contain `<entry>`, since their `<` is escaped. */
function withRelated(xml: string, entries: readonly FeedEntry[]): string {
  const [head = '', ...pieces] = xml.split(ENTRY);
  if (pieces.length !== entries.length) throw new TypeError(`expected ${entries.length} entries in the feed`);
  const linked = pieces.map((piece, index) => {
    const links = (entries[index]?.related ?? []).map(
      (url) => `\n        ${link('related', url, 'application/json')}`,
    );
    return [ENTRY, ...links, piece].join('');
  });
  return head + linked.join('');
}

const json1 = z.looseObject({
  items: z.array(z.looseObject({ date_modified: z.string(), date_published: z.string() })),
});

/** The document as JSON Feed 1.1. */
export function jsonFeed(document: FeedDocument, operator: FeedOperator): string {
  const feed = started(document, operator, legible);
  for (const { id, title, content, published, url } of document.entries) {
    const date = new Date(published);
    feed.addItem({ id, title, content, published: date, date, link: url });
  }
  const { version: _, author, items, ...head } = json1.parse(JSON.parse(feed.json1()));
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    ...head,
    language: LANGUAGE,
    authors: [author],
    items: items.map((item, index) => ({
      ...item,
      date_modified: item.date_modified.replace('.000Z', 'Z'),
      date_published: item.date_published.replace('.000Z', 'Z'),
      // An extension of the item, by the name of which JSON Feed 1.1 asks for the underscore.
      _register: document.entries[index]?.facts?.(),
    })),
  });
}

function started(document: FeedDocument, operator: FeedOperator, text: (text: string) => string): Feed {
  const { id, title, description, updated, self } = document;
  return new Feed({
    id,
    title: text(title),
    description: text(description),
    updated: new Date(updated),
    link: operator.baseUrl + PATHS.feeds,
    feedLinks: { atom: self, json: self },
    author: { name: text(operator.name), link: operator.url },
    copyright: text(termsText(operator)),
    generator: GENERATOR,
  });
}

/** By format. */
export const RENDERED = { atom, json: jsonFeed } as const;
