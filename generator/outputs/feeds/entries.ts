/** The text of an entry: a title that states what happened, and the full content. */
import type { Resource } from '../../schema/field.js';
import type { Measured } from '../../schema/measured.js';
import { capitalized, wordsIn, type InWords } from '../../schema/words.js';
import { measuredDocuments, routeNamed } from '../../routes/routes.js';
import { filler, type Route } from '../../routes/route.js';
import { recordPage } from '../../routes/pages.js';
import { cut } from '../pages/words.js';
import type { ValueChange, ChangeSource, Values } from './changes.js';
import type { News } from './contents.js';
import { tag, type FeedEntry, type FeedOperator } from './document.js';
import { changeFacts, firstFacts } from './facts.js';
import type { First } from './firsts.js';
import { escaped, legible, quoted } from './text.js';

/** Longer values are cut in titles, but never in the content. */
const TITLE_CHARACTERS = 100;

/** Text for a title, and for the content. */
interface Phrase {
  readonly plain: string;
  readonly html: string;
}

/** Our own words, or those of the operator. */
const own = (words: string): Phrase => ({ plain: words, html: escaped(words) });

/** A measured text, whose direction does not affect the surrounding words. */
function measured(value: string): Phrase {
  const text = legible(value);
  return {
    plain: text === '' ? '(empty)' : quoted(cut(text, TITLE_CHARACTERS)),
    html: `<bdi>${escaped(text)}</bdi>`,
  };
}

/**
 * The wording for each sort of change. In a title, words separate the values: between two names that
 * are read from right to left, an arrow would point the wrong way.
 */
const CHANGE_TEXTS: Readonly<
  Record<
    ChangeSource['field'],
    {
      readonly what: string;
      /** With places for the record and both values. */
      readonly title: string;
      readonly value: (values: Values, inWords: InWords) => Phrase;
    }
  >
> = {
  name: {
    what: 'group name',
    title: 'Group renamed from {from} to {to}',
    value: ([name]) => measured(String(name)),
  },
  owner: {
    what: 'group owner',
    title: 'Owner of group {record} changed from {from} to {to}',
    value: ownerOf,
  },
  username: {
    what: 'username',
    title: 'Username changed from {from} to {to}',
    value: ([username]) => measured(String(username)),
  },
};

/** A withheld owner has neither id nor name, like one that was not measured. */
function ownerOf([state, id, name]: Values, inWords: InWords): Phrase {
  if (state === 'none') return own('no owner');
  const user = inWords(`user ${id}`);
  if (typeof name !== 'string') return own(typeof id === 'number' ? user : 'an unnamed owner');
  const { plain, html } = measured(name);
  return { plain, html: typeof id === 'number' ? `${html} (${escaped(user)})` : html };
}

/** Creates the entries of a register. */
export class EntryMaker {
  readonly #operator: FeedOperator;
  readonly #measured: Measured;
  readonly #inWords: InWords;
  /** Route name -> absolute URL of an id. */
  readonly #urls: ReadonlyMap<string, (id: number) => string>;

  constructor(operator: FeedOperator, measured: Measured, table: readonly Route[]) {
    this.#operator = operator;
    this.#measured = measured;
    this.#inWords = wordsIn(operator);
    this.#urls = new Map(table.map(({ name }) => [name, absolute(operator, table, name)]));
  }

  entry(news: News): FeedEntry {
    return 'source' in news ? this.#change(news) : this.#first(news);
  }

  #change(change: ValueChange): FeedEntry {
    const { source, id, position, from, to, changedAt, measuredAt, changedAfter, name } = change;
    const { resource, field } = source;
    const { what, title, value } = CHANGE_TEXTS[field];
    const [before, after] = [value(from, this.#inWords), value(to, this.#inWords)];
    const record = name === null ? undefined : measured(name);
    const facts: readonly Fact[] = [
      ...(record === undefined
        ? []
        : [[escaped(this.#inWords(capitalized(resource.kind))), record.html] as const]),
      ['Changed', escaped(this.#inWords(what))],
      ['From', before.html],
      ['To', after.html],
      ...(changedAt === null ? [] : [['Changed at', `${changedAt}, according to the platform`] as const]),
      ['New value first measured at', measuredAt],
      ['Old value last measured at', changedAfter ?? 'unknown: both values were learned at the same time'],
    ];
    return {
      id: tag(this.#operator, `${resource.kind}/${id}/${field}/${position}`),
      title: filled(this.#inWords(title), {
        record: record?.plain ?? String(id),
        from: before.plain,
        to: after.plain,
      }),
      published: measuredAt,
      ...this.#about(resource, id, facts),
      facts: () => changeFacts(change),
    };
  }

  #first(first: First): FeedEntry {
    const { resource, id, name, measuredAt } = first;
    const { kind } = resource;
    const nameText = name === null ? undefined : measured(name);
    return {
      // A record has only one first measurement.
      id: tag(this.#operator, `${kind}/${id}/first_measured_at/1`),
      title:
        this.#inWords(`${capitalized(kind)} measured for the first time: `) +
        (nameText?.plain ?? this.#inWords(`${kind} ${id}`)),
      published: measuredAt,
      ...this.#about(resource, id, [
        ['Name', nameText?.html ?? 'not measured'],
        ['First measured at', measuredAt],
      ]),
      facts: () => firstFacts(first),
    };
  }

  #about(
    resource: Resource,
    id: number,
    facts: readonly Fact[],
  ): Pick<FeedEntry, 'content' | 'url' | 'related'> {
    const { kind, record } = resource;
    const url = this.#url(recordPage(kind), id);
    const documents = measuredDocuments(resource, this.#measured).map((document) => ({
      at: this.#url(document.route, id),
      words: document === record ? 'its record' : 'its history',
    }));
    const links = documents.map(({ at, words }) => anchor(at, words)).join(' and ');
    const content = `${list(facts)}<p>${anchor(url, escaped(this.#inWords(`${capitalized(kind)} ${id}`)))}. As JSON: ${links}</p>`;
    return { url, related: documents.map(({ at }) => at), content };
  }

  #url(route: string, id: number): string {
    const url = this.#urls.get(route);
    if (url === undefined) throw new TypeError(`no route is named "${route}"`);
    return url(id);
  }
}

/** A term and its value in HTML. */
export type Fact = readonly [term: string, html: string];

/** Each value is in a block of its own, so no other's direction affects it. */
export const list = (facts: readonly Fact[]): string =>
  `<dl>${facts.map(([term, html]) => `<dt>${term}</dt><dd>${html}</dd>`).join('')}</dl>`;

export const anchor = (url: string, words: string): string => `<a href="${escaped(url)}">${words}</a>`;

/** A sentence with its places filled in. */
const filled = (sentence: string, values: Readonly<Record<string, string>>): string =>
  sentence.replaceAll(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);

/** The absolute URLs of a route. */
export function absolute(
  { baseUrl }: FeedOperator,
  table: readonly Route[],
  route: string,
): (key: number) => string {
  const fill = filler(routeNamed(table, route).path);
  return (key) => baseUrl + fill(key);
}
