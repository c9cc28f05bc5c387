/**
 * `<register-chart group="45">`: what was measured of a record, in a page of anybody. All of it is in one file, which asks
 * for one document: with its style sheet, since pages may allow no other.
 */
import type { Kind } from '../../../schema/field.js';
import { capitalized } from '../../../schema/words.js';
import type { EmbeddedKind, EmbeddedRegister as Register } from '../page-data.js';
import { cut, integer, moment, visible } from '../words.js';
import { draw as drawLine, end } from './chart.js';
import { element, isolated, link, none, present, time } from './dom.js';
import sheet from './embed.css';
import { FIGURES, labelOf, reasonFor, type Reference } from './facts.js';
import { fewReadings, readingsLine } from './line.js';
import { problem } from './problem.js';
import { ask, filled } from './request.js';
import { TIMELINES, isEntry, timelines } from './timeline.js';
import {
  isObject,
  isReading,
  lastReading,
  listIn,
  numberIn,
  objectIn,
  textIn,
  type Values,
} from './values.js';

interface Asked extends EmbeddedKind {
  readonly kind: Kind;
  readonly id: string;
  readonly value: string | null;
}

/** Draws what an element asks for, and returns what ends that. */
type Draw = (host: Element, root: ShadowRoot) => () => void;

/** The element: scripts of several registers and versions meet here. */
type Shared = CustomElementConstructor & { serve?: (base: string, draw: Draw) => void };

const ELEMENT = 'register-chart';
/** The attribute with the URL of a register, for pages with charts of several. */
const REGISTER = 'register';
/** A name of more characters is cut. */
const MOST_OF_NAME = 80;
const MEASURED = 'Measured, never estimated. ';
const KINDS = ['group', 'user', 'game', 'item'] as const;

const read = (words: string, at: string) => element('p', { class: 'note' }, words, time(at, moment(at)), '.');

/** What an element asks for, or what its attributes lack, for the author of the page. */
function askedBy({ name, kinds }: Register, host: Element): Asked | string {
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

/** Names, usernames or owners in time. */
function entriesOf(history: Values, list: (typeof TIMELINES)[number], reference: Reference, url: string) {
  const newest = listIn(history[list], isEntry).at(-1)?.last_measured_at;
  return present([
    ...timelines(history, [list], { tag: 'p', created: null, url, reference }),
    newest !== undefined && read('Last read ', newest),
  ]);
}

/** The numbers of a record, of a kind without a history. */
function valuesOf(record: Values, { kind, value, counts }: Asked) {
  const items = counts
    .filter(({ name }) => (value === null ? FIGURES[kind].includes(name) : name === value))
    .map(({ name, unit }) => {
      const count = numberIn(record[name]);
      const reason = reasonFor(record, name) ?? none('not measured');
      return element(
        'li',
        {},
        `${labelOf(name)}: `,
        count === null ? reason : element('b', {}, integer(count)),
        count !== null && unit !== undefined && unit !== name && ` ${unit}`,
      );
    });
  return present([items.length > 0 && element('ul', { class: 'values' }, ...items), readLine(record)]);
}

/** When the numbers were read: a count of members with its newest reading, to which each change leads. */
function readLine(record: Values) {
  const change = objectIn(record['change']);
  const newest = change && lastReading(change);
  const at = newest ?? textIn(record['measured_at']);
  // Without a change, only the history would say when the newest reading was.
  return at !== null && read(change !== null && newest === null ? 'The record was last read ' : 'Read ', at);
}

/** A constructed style sheet is of one document. */
const sheets = new WeakMap<Document, CSSStyleSheet>();

/** Gives a chart its look, in whichever document it is. */
function dress(root: ShadowRoot) {
  const place = root.ownerDocument;
  const { defaultView: view } = place;
  if (view === null) return;
  const known = sheets.get(place) ?? new view.CSSStyleSheet();
  if (!sheets.has(place)) known.replaceSync(sheet);
  sheets.set(place, known);
  root.adoptedStyleSheets = [known];
}

/** Makes `<register-chart>` an element of the page, for the scripts of all registers in it. */
function makeElement(): Shared {
  /** By the URL of its register. */
  const drawn = new Map<string, Draw>();

  /** What draws an element, or why there is none, for the author of the page. */
  const drawOf = (host: Element): Draw | string => {
    const named = host.getAttribute(REGISTER)?.replace(/\/*$/, '/');
    const [only] = drawn.values();
    if (named !== undefined)
      return drawn.get(named) ?? `${ELEMENT} of ${named} needs its script, ${named}embed.js, in this page.`;
    return only !== undefined && drawn.size === 1
      ? only
      : `${ELEMENT} needs the attribute ${REGISTER}, since this page has scripts of ${drawn.size}: ${[...drawn.keys()].join(', ')}.`;
  };

  /** Those in a document. */
  const charts = new Set<RegisterChart>();
  class RegisterChart extends HTMLElement {
    static observedAttributes = [...KINDS, 'value', REGISTER];

    /** @param base URL of a register */
    static serve(base: string, draw: Draw) {
      drawn.set(base, draw);
      for (const chart of charts) if (drawOf(chart) !== chart.#shown) chart.#plan();
    }

    #root = this.attachShadow({ mode: 'open' });
    #isPlanned = false;
    #shown: Draw | string | undefined;
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
      this.#shown = drawOf(this);
      if (typeof this.#shown === 'function') this.#end = this.#shown(this, this.#root);
      else {
        dress(this.#root);
        this.#root.replaceChildren(element('figure', {}, element('p', {}, this.#shown)));
      }
    }
  }
  customElements.define(ELEMENT, RegisterChart);
  return RegisterChart;
}

/**
 * Has `<register-chart>` draw what this register has measured. The first script in a page makes the element, and each draws
 * the charts of its own register.
 * @param script the URL of this script: what it asks for is next to it
 */
export function define(register: Register, script: string) {
  const urlOf = (path: string) => new URL(path, script).href;

  const reference: Reference = (kind, id, name) => {
    const known = register.kinds[kind];
    const seen = visible(textIn(name));
    const words = seen === null ? `${known?.one ?? kind} ${id}` : isolated(seen);
    return known === undefined ? element('span', {}, words) : link(urlOf(filled(known.page, id)), words);
  };

  const caption = ({ kind, one, id, page }: Asked, document: Values) => {
    const name = textIn(document[kind === 'user' ? 'username' : 'name']);
    const seen = visible(name);
    return element(
      'figcaption',
      {},
      link(
        urlOf(filled(page, id)),
        seen === null ? capitalized(`${one} ${id}`) : isolated(cut(seen, MOST_OF_NAME)),
      ),
      seen !== null && element('span', { class: 'note' }, `${one} ${id}`),
    );
  };

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

  const draw: Draw = (host, root) => {
    let isOver = false;
    let plotted: HTMLElement | undefined;

    const show = (...parts: readonly (Node | string)[]) => {
      if (plotted !== undefined) end(plotted);
      plotted = undefined;
      root.replaceChildren(element('figure', { lang: 'en', dir: 'ltr' }, ...parts));
    };

    /** The line of the members, or what is said without it. */
    const showMembers = (head: Node, history: Values) => {
      const readings = listIn(history['members'], isReading);
      if (readings.length < 2) return show(head, element('p', {}, fewReadings(readings)), source(MEASURED));
      const line = readingsLine(readings);
      const summary = element('p', { class: 'note' }, line.summary);
      show(head, line.readout, line.plot, line.start, summary, source(MEASURED));
      plotted = line.plot;
      line.draw(drawLine);
    };

    const load = async () => {
      const asked = askedBy(register, host);
      if (typeof asked === 'string') return show(element('p', {}, asked));
      const { one, id, value, lists, history } = asked;
      const list = lists.find((each) => value === null || each === value);
      const url = urlOf(filled(list === undefined || history === undefined ? asked.record : history, id));
      show(element('p', { class: list === 'members' && 'waiting', role: 'status' }, 'Loading …'));
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
      const drawn = TIMELINES.find((each) => each === list);
      if (list !== undefined && drawn === undefined) return showMembers(head, document);
      const parts =
        drawn === undefined ? valuesOf(document, asked) : entriesOf(document, drawn, reference, url);
      show(head, ...parts, source(MEASURED));
    };

    dress(root);
    void load();
    return () => {
      isOver = true;
      if (plotted !== undefined) end(plotted);
    };
  };

  const defined: Shared | undefined = customElements.get(ELEMENT);
  (defined ?? makeElement()).serve?.(urlOf('.'), draw);
}
