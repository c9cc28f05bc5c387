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
 *
 * @callback Draw draws what an element asks for
 * @param {Element} host
 * @param {ShadowRoot} root of it
 * @returns {() => void} ends that
 *
 * @typedef {CustomElementConstructor & { serve?: (base: string, draw: Draw) => void }} Shared the element: scripts of
 *   several registers and versions meet here
 */

const ELEMENT = 'register-chart';
/** The attribute with the URL of a register, for pages with charts of several. */
const REGISTER = 'register';
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
  if (kind === undefined)
    return `${ELEMENT} needs one of the attributes ${KINDS.join(', ')}, with the id of a record.`;
  const id = host.getAttribute(kind) ?? '';
  if (!/^[1-9]\d*$/.test(id) || !Number.isSafeInteger(Number(id)))
    return `${ELEMENT} has ${kind}="${id}", which is no id: ids are from 1 to ${integer(Number.MAX_SAFE_INTEGER)}, without zeros in front.`;
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

/** A constructed style sheet is of one document. @type {WeakMap<Document, CSSStyleSheet>} */
const sheets = new WeakMap();

/** Gives a chart its look, in whichever document it is. @param {ShadowRoot} root */
function dress(root) {
  const place = root.ownerDocument;
  const { defaultView: view } = place;
  if (view === null) return;
  const known = sheets.get(place) ?? new view.CSSStyleSheet();
  if (!sheets.has(place)) known.replaceSync(sheet);
  sheets.set(place, known);
  root.adoptedStyleSheets = [known];
}

/** Makes `<register-chart>` an element of the page, for the scripts of all registers in it. @returns {Shared} */
function makeElement() {
  /** By the URL of its register. @type {Map<string, Draw>} */
  const drawn = new Map();

  /** @param {Element} host @returns {Draw | string} or why there is none, for the author of the page */
  const drawOf = (host) => {
    const named = host.getAttribute(REGISTER)?.replace(/\/*$/, '/');
    const [[, only], other] = drawn;
    if (named === undefined)
      return other === undefined
        ? only
        : `${ELEMENT} needs the attribute ${REGISTER}, since this page has scripts of ${drawn.size}: ${[...drawn.keys()].join(', ')}.`;
    return drawn.get(named) ?? `${ELEMENT} of ${named} needs its script, ${named}embed.js, in this page.`;
  };

  /** Those in a document. @type {Set<RegisterChart>} */
  const charts = new Set();
  class RegisterChart extends HTMLElement {
    static observedAttributes = [...KINDS, 'value', REGISTER];

    /** @param {string} base URL of a register @param {Draw} draw */
    static serve(base, draw) {
      drawn.set(base, draw);
      for (const chart of charts) if (drawOf(chart) !== chart.#shown) chart.#plan();
    }

    #root = this.attachShadow({ mode: 'open' });
    #isPlanned = false;
    /** @type {Draw | string | undefined} */
    #shown;
    #end = () => {};

    connectedCallback() {
      charts.add(this);
      this.#plan();
    }

    disconnectedCallback() {
      charts.delete(this);
      this.#empty();
    }

    attributeChangedCallback() {
      if (this.isConnected) this.#plan();
    }

    /** Draws once for all that changes together. */
    #plan() {
      if (this.#isPlanned) return;
      this.#isPlanned = true;
      queueMicrotask(() => {
        this.#isPlanned = false;
        if (this.isConnected) this.#draw();
      });
    }

    #empty() {
      this.#end();
      this.#end = () => {};
      this.#root.replaceChildren();
    }

    #draw() {
      this.#empty();
      const draw = drawOf(this);
      this.#shown = draw;
      if (typeof draw === 'function') this.#end = draw(this, this.#root);
      else {
        dress(this.#root);
        this.#root.replaceChildren(element('figure', {}, element('p', {}, draw)));
      }
    }
  }
  customElements.define(ELEMENT, RegisterChart);
  return RegisterChart;
}

/**
 * Has `<register-chart>` draw what this register has measured. The first script in a page makes the element, and each draws
 * the charts of its own register.
 * @param {Register} register
 * @param {string} script the URL of this script: what it asks for is next to it
 */
export function define(register, script) {
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

  /** @type {Draw} */
  const draw = (host, root) => {
    let isOver = false;
    /** @type {HTMLElement | undefined} */
    let plotted;

    /** @param {...(Node | string)} parts in place of what was shown */
    const show = (...parts) => {
      if (plotted !== undefined) end(plotted);
      plotted = undefined;
      root.replaceChildren(element('figure', {}, ...parts));
    };

    const load = async () => {
      const asked = askedBy(register, host);
      if (typeof asked === 'string') return show(element('p', {}, asked));
      const { one, id, value, lists, history } = asked;
      const list = lists.find((each) => value === null || each === value);
      const url = urlOf(filled(list === undefined || history === undefined ? asked.record : history, id));
      show(element('p', { class: list === 'members' ? 'waiting' : undefined, role: 'status' }, 'Loading …'));
      const answer = await ask(url);
      if (isOver) return;
      if (answer.status === 404)
        return show(
          element('p', {}, element('b', {}, `No ${one} ${id} in this register.`)),
          element('p', {}, 'It was not measured, or its record is no longer published.'),
          source(),
        );
      if (!answer.good || !isObject(answer.value))
        return show(
          problem(answer, `${capitalized(one)} ${id}`, () => void load()),
          source(),
        );
      const document = answer.value;
      const head = caption(asked, document);
      if (list === undefined) return show(head, ...valuesOf(document, asked), source(MEASURED));
      if (list === 'names' || list === 'owners' || list === 'usernames')
        return show(head, ...entriesOf(document, list, reference, url), source(MEASURED));
      const { parts, show: plot, plot: place } = membersOf(document);
      show(head, ...parts, source(MEASURED));
      plotted = place;
      plot();
    };

    dress(root);
    void load();
    return () => {
      isOver = true;
      if (plotted !== undefined) end(plotted);
    };
  };

  /** @type {Shared | undefined} */
  const defined = customElements.get(ELEMENT);
  (defined ?? makeElement()).serve?.(urlOf('.'), draw);
}
