/**
 * Renders feeds. Atom is made by the `feed` package (version 6), and its gaps are worked around:
 * - It copies into CDATA what XML can't contain, and splits only the first `]]>`. So all text is
 *   made legible, and titles and content are HTML with every `>` of a value escaped.
 * - It reads `&amp;` in element text as `&`, so such text is escaped once beforehand.
 * - It does not escape `<` in categories, which are not used.
 * - It lacks several links per entry, the link to the licence, and the language of Atom feeds: inserted.
 * - It writes milliseconds, which no reading has: removed.
 */
import { Feed } from 'feed';
import { PATHS } from '../../routes/paths.js';
import { termsText } from '../licence.js';
import type { FeedEntry, FeedDocument, FeedOperator } from './document.js';
import { escaped, legible } from './text.js';

const LANGUAGE = 'en';
const GENERATOR = 'register-api';

const link = (rel: string, url: string, type?: string): string =>
  `<link rel="${rel}" href="${escaped(url)}"${type === undefined ? '' : ` type="${type}"`}/>`;

/** Text of an element, as the package reads it. */
const text = (plain: string): string => legible(plain).replaceAll('&', '&amp;');

/** The document as Atom (RFC 4287). */
export function atom(document: FeedDocument, operator: FeedOperator): string {
  const feed = new Feed({
    id: document.id,
    title: text(document.title),
    description: text(document.description),
    updated: new Date(document.updated),
    link: operator.baseUrl + PATHS.feeds,
    feedLinks: { atom: document.self },
    author: { name: text(operator.name), link: operator.url },
    copyright: text(termsText(operator)),
    generator: GENERATOR,
  });
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

/** The document as JSON Feed 1.1, which needs no library. `_register` has the underscore of an extension. */
export function jsonFeed(document: FeedDocument, operator: FeedOperator): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: legible(document.title),
    home_page_url: operator.baseUrl + PATHS.feeds,
    feed_url: document.self,
    description: legible(document.description),
    language: LANGUAGE,
    authors: [{ name: legible(operator.name), url: operator.url }],
    items: document.entries.map(({ id, title, content, published, url, facts }) => ({
      id,
      content_html: content,
      url,
      title,
      date_modified: published,
      date_published: published,
      _register: facts?.(),
    })),
  });
}

/** By format. */
export const RENDERED = { atom, json: jsonFeed } as const;
