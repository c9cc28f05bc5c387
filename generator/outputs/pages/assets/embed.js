/**
 * `<register-chart group="45">`: what was measured of a record, in a page of anybody. All of it is in one file, which asks
 * for one document: with its style sheet, since pages may allow no other.
 */
import sheet from './embed.css';
import { draw, end } from './chart.js';
import { element, isolated, none, present, time } from './dom.js';
import {
  FIGURES,
  isObject,
  isReading,
  labelOf,
  listIn,
  numberIn,
  ownerWords,
  reasonFor,
  textIn,
} from './facts.js';
import { fewReadings, readingsLine } from './line.js';
import { problem } from './problem.js';
import { ask } from './request.js';
import { isEntry, scaleOf, timeline } from './timeline.js';
import { lineOf } from '../series.js';
import { cut, integer, moment } from '../words.js';
import { capitalized } from '../../../schema/words.js';

/**
 * @typedef {import('./facts.js').Values} Values
 * @typedef {'group' | 'user' | 'game' | 'item'} Kind
 *
 * @typedef {object} EmbeddedKind what the register measures of a kind
 * @property {string} one what a record is called
 * @property {string} page path of the page of a record
 * @property {string} record path of its JSON
 * @property {string} [history] path of its history
 * @property {readonly string[]} lists the lists in that history
 * @property {readonly { name: string, unit?: string }[]} counts those in the record
 *
 * @typedef {object} Register what the generator knows of the register
 * @property {string} name
 * @property {{ name: string, url: string }} licence
 * @property {Readonly<Partial<Record<Kind, EmbeddedKind>>>} kinds those that it measures
 *
 * @typedef {EmbeddedKind & { kind: Kind, id: string, value: string | null }} Asked
 */

const ELEMENT = 'register-chart';
/** A name of more characters is cut. */
const MOST_OF_NAME = 80;
const MEASURED = 'Measured, never estimated. ';
const KINDS = /** @type {const} */ (['group', 'user', 'game', 'item']);

/** What an entry of a history is called, by its list. */
const ENTRIES = { names: 'name', owners: 'owner', usernames: 'username' };

/** @param {string} href @param {...(Node | string)} words */
const link = (href, ...words) => element('a', { href }, ...words);

/** @param {string} path @param {string} id */
const filled = (path, id) => path.replace('{id}', id);

/**
 * What an element asks for.
 * @param {Register} register
 * @param {Element} host
 * @returns {Asked | string} or what its attributes lack, for the author of the page
 */
function askedBy({ name, kinds }, host) {
  const kind = KINDS.find((each) => host.hasAttribute(each));
  const id = host.getAttribute(kind ?? '') ?? '';
  if (kind === undefined || !/^\d+$/.test(id))
    return `${ELEMENT} needs one of the attributes ${KINDS.join(', ')}, with the id of a record.`;
  const known = kinds[kind];
  if (known === undefined) return `${name} measures no records of this kind (${kind}).`;
  const value = host.getAttribute('value');
  const values = [...known.lists, ...known.counts.map((each) => each.name)];
  if (value !== null && !values.includes(value))
    return `${ELEMENT} has no value "${value}" of a ${kind}; those measured are ${values.join(', ')}.`;
  return { ...known, kind, id, value };
}

/**
 * The line of the members, or what is said without it.
 * @param {Values} history
 * @returns {{ parts: HTMLElement[], show: () => void, plot?: HTMLElement }}
 */
function membersOf(history) {
  const readings = listIn(history.members, isReading);
  if (readings.length < 2) return { parts: [element('p', {}, fewReadings(readings))], show: () => undefined };
  const line = readingsLine(readings);
  const summary = element('p', { class: 'note' }, line.summary);
  return {
    parts: [line.readout, line.plot, line.start, summary],
    show: () => line.draw(draw),
    plot: line.plot,
  };
}

/**
 * Names, usernames or owners in time.
 * @param {Values} history
 * @param {keyof typeof ENTRIES} list
 * @param {(kind: Kind, id: number, name: unknown) => Node} reference
 * @param {string} url of the history
 */
function entriesOf(history, list, reference, url) {
  const entries = listIn(history[list], isEntry);
  const one = ENTRIES[list];
  const gaps = lineOf(listIn(history.members, isReading)).open;
  const newest = entries.at(-1)?.last_measured_at;
  return present([
    timeline({
      id: list,
      heading: element('p', { id: list }, labelOf(list)),
      one,
      entries,
      label: (entry) =>
        list === 'owners'
          ? ownerWords(entry.owner_state, entry.owner, reference)
          : isolated(textIn(entry[one]) ?? ''),
      created: null,
      scale: scaleOf([entries], null),
      gaps: gaps.map(([from, to]) => ({ from: 1000 * from, to: 1000 * to })),
      history: url,
    }),
    newest !== undefined && element('p', { class: 'note' }, 'Last read ', time(newest, moment(newest)), '.'),
  ]);
}

/**
 * The numbers of a record, of a kind without a history.
 * @param {Values} record
 * @param {Asked} asked
 */
function valuesOf(record, { kind, value, counts }) {
  /** @type {readonly string[]} */
  const usual = FIGURES[kind];
  const shown = counts.filter(({ name }) => (value === null ? usual.includes(name) : name === value));
  const read = textIn(record.measured_at);
  return present([
    shown.length > 0 &&
      element(
        'ul',
        { class: 'values' },
        ...shown.map(({ name, unit }) => {
          const count = numberIn(record[name]);
          return element(
            'li',
            {},
            `${labelOf(name)}: `,
            count === null
              ? (reasonFor(record, name) ?? none('not measured'))
              : element('b', {}, integer(count)),
            count !== null && unit !== undefined && unit !== name && ` ${unit}`,
          );
        }),
      ),
    read !== null && element('p', { class: 'note' }, 'Read ', time(read, moment(read)), '.'),
  ]);
}

/**
 * Makes `<register-chart>` an element of the page, unless another script has.
 * @param {Register} register
 * @param {string} script the URL of this script: what it asks for is next to it
 */
export function define(register, script) {
  if (customElements.get(ELEMENT) !== undefined) return;
  const style = new CSSStyleSheet();
  style.replaceSync(sheet);
  /** @param {string} path */
  const urlOf = (path) => new URL(path, script).href;

  /** @type {(kind: Kind, id: number, name: unknown) => Node} */
  const reference = (kind, id, name) => {
    const known = register.kinds[kind];
    const words = typeof name === 'string' && name !== '' ? isolated(name) : `${known?.one ?? kind} ${id}`;
    return known === undefined
      ? element('span', {}, words)
      : link(urlOf(filled(known.page, String(id))), words);
  };

  /** @param {Asked} asked @param {Values} document */
  const caption = ({ kind, one, id, page }, document) => {
    const name = textIn(document[kind === 'user' ? 'username' : 'name']);
    const isNamed = name !== null && name.trim() !== '';
    return element(
      'figcaption',
      {},
      link(
        urlOf(filled(page, id)),
        isNamed ? isolated(cut(name, MOST_OF_NAME)) : capitalized(`${one} ${id}`),
      ),
      isNamed && element('span', { class: 'note' }, `${one} ${id}`),
    );
  };

  /** @param {string} said of what is shown */
  const source = (said = '') =>
    element(
      'p',
      { class: 'source' },
      `${said}Source: `,
      link(urlOf('/'), register.name),
      ', ',
      element('a', { href: register.licence.url, rel: 'license' }, register.licence.name),
      '.',
    );

  customElements.define(
    ELEMENT,
    class extends HTMLElement {
      static observedAttributes = [...KINDS, 'value'];

      #root = this.attachShadow({ mode: 'open' });
      /** Counts what was asked for, so that a late answer does not replace a newer one. */
      #latest = 0;
      /** @type {HTMLElement | undefined} */
      #plot;

      connectedCallback() {
        this.#root.adoptedStyleSheets = [style];
        this.#plan();
      }

      disconnectedCallback() {
        this.#latest += 1;
        this.#show();
      }

      attributeChangedCallback() {
        if (this.isConnected) this.#plan();
      }

      /** Loads once for all attributes that change together. */
      #plan() {
        this.#latest += 1;
        const planned = this.#latest;
        queueMicrotask(() => {
          if (planned === this.#latest) void this.#load();
        });
      }

      /** @param {...(Node | string)} parts in place of what was shown */
      #show(...parts) {
        if (this.#plot !== undefined) end(this.#plot);
        this.#plot = undefined;
        this.#root.replaceChildren(...(parts.length === 0 ? [] : [element('figure', {}, ...parts)]));
      }

      async #load() {
        const loading = this.#latest;
        const asked = askedBy(register, this);
        if (typeof asked === 'string') return this.#show(element('p', {}, asked));
        const { one, id, value, lists, history } = asked;
        const list = lists.find((each) => value === null || each === value);
        const url = urlOf(filled(list === undefined || history === undefined ? asked.record : history, id));
        this.#show(
          element('p', { class: list === 'members' ? 'waiting' : undefined, role: 'status' }, 'Loading …'),
        );
        const answer = await ask(url);
        if (loading !== this.#latest) return;
        if (answer.status === 404)
          return this.#show(
            element('p', {}, element('b', {}, `No ${one} ${id} in this register.`)),
            element('p', {}, 'It was not measured, or its record is no longer published.'),
            source(),
          );
        if (!answer.good || !isObject(answer.value)) {
          const box = problem(answer, `${capitalized(one)} ${id}`, () => this.#plan());
          return this.#show(box, source());
        }
        const document = answer.value;
        const head = caption(asked, document);
        if (list === undefined) return this.#show(head, ...valuesOf(document, asked), source(MEASURED));
        if (list === 'names' || list === 'owners' || list === 'usernames')
          return this.#show(head, ...entriesOf(document, list, reference, url), source(MEASURED));
        const { parts, show, plot } = membersOf(document);
        this.#show(head, ...parts, source(MEASURED));
        this.#plot = plot;
        show();
      }
    },
  );
}
