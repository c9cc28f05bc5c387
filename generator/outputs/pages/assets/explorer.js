/** The explorer: choose a document, fill in its parameter, see the request, the response and, of a group, its history. */
import { highlight } from './highlight.js';
import { ask } from './request.js';

/**
 * @typedef {object} Parameter
 * @property {string} name
 * @property {'path' | 'query'} in
 * @property {string} description
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [default]
 * @property {string} [example]
 *
 * @typedef {object} Endpoint
 * @property {string} name
 * @property {string} path
 * @property {string} description
 * @property {string} part the title of its page in the reference
 * @property {Parameter} [parameter]
 * @property {string} [history] path of the member history that belongs to it
 * @property {string} [page] path of the page about its record
 *
 * @typedef {import('./request.js').Answer} Answer
 * @typedef {import('./chart.js').Reading} Reading
 */

/** Of longer bodies so many lines are shown until more is asked for. */
const SHOWN_LINES = 120;

/**
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
function part(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new TypeError(`the page has no #${id} of the kind expected`);
  return element;
}

const form = part('explorer', HTMLElement).querySelector('form');
const button = form?.querySelector('button');
const select = part('explorer-endpoint', HTMLSelectElement);
const about = part('explorer-about', HTMLElement);
const field = part('explorer-field', HTMLElement);
const input = part('explorer-value', HTMLInputElement);
const label = field.querySelector('label');
const hint = part('explorer-hint', HTMLElement);
const curl = part('explorer-curl', HTMLElement);
const status = part('explorer-status', HTMLElement);
const wait = part('explorer-wait', HTMLElement);
const answerPart = part('explorer-answer', HTMLElement);
const body = part('explorer-body', HTMLElement);
const more = part('explorer-more', HTMLButtonElement);
const headerList = part('explorer-headers', HTMLElement);
const chart = part('explorer-chart', HTMLElement);
const chartText = part('explorer-chart-text', HTMLElement);
const plot = part('explorer-plot', HTMLElement);
const record = part('explorer-page', HTMLElement);
const link = part('explorer-link', HTMLAnchorElement);

/**
 * The generator wrote them into the page.
 * @returns {readonly Endpoint[]}
 */
function readEndpoints() {
  // oxlint-disable-next-line typescript/no-unsafe-return
  return JSON.parse(part('explorer-data', HTMLScriptElement).textContent ?? '[]');
}

const endpoints = readEndpoints();

const chosen = () => endpoints[select.selectedIndex];

/**
 * A path with the parameter filled in, as the browser will ask for it.
 * @param {string} path
 * @param {Parameter | undefined} parameter
 */
function urlOf(path, parameter) {
  const value = input.value.trim();
  const filled = path.replace(/\{\w+\}/, encodeURIComponent(value));
  const query =
    parameter?.in === 'query' && value !== '' ? `?${parameter.name}=${encodeURIComponent(value)}` : '';
  return new URL(filled + query, location.origin);
}

function choose() {
  const { parameter, description: what } = chosen();
  about.textContent = what;
  field.hidden = parameter === undefined;
  if (parameter !== undefined) {
    const { name, description, minimum, maximum, example } = parameter;
    if (label !== null) label.textContent = name;
    hint.textContent = minimum === undefined ? description : `${description}, ${minimum} to ${maximum}`;
    input.value = String(example ?? parameter.default ?? '');
  }
  showRequest();
}

function showRequest() {
  const { path, parameter } = chosen();
  curl.textContent = `curl "${urlOf(path, parameter)}"`;
}

/** The body shown, of which only the beginning may be visible. */
let whole = '';

/** @param {Answer} answer */
function showAnswer({ status: code, summary, good, text, headers, waitSeconds }) {
  whole = text;
  status.textContent = summary;
  status.classList.toggle('bad', !good);
  answerPart.hidden = code === 0;
  const lines = text.split('\n');
  const isLong = lines.length > SHOWN_LINES;
  highlight(body, isLong ? `${lines.slice(0, SHOWN_LINES).join('\n')}\n…` : text);
  more.hidden = !isLong;
  more.textContent = `Show all ${lines.length.toLocaleString('en')} lines`;
  headerList.replaceChildren(
    ...headers.map(([name, value]) => {
      const row = document.createElement('div');
      const term = document.createElement('dt');
      const meaning = document.createElement('dd');
      term.textContent = name;
      meaning.textContent = value;
      row.append(term, meaning);
      return row;
    }),
  );
  if (waitSeconds > 0) countDown(waitSeconds);
}

/**
 * Refused: says when the next request passes, and lets it be sent then.
 * @param {number} seconds
 */
function countDown(seconds) {
  const end = performance.now() + seconds * 1000;
  wait.hidden = false;
  const tick = () => {
    const left = Math.ceil((end - performance.now()) / 1000);
    wait.textContent = `The next request is allowed in ${left} s, according to Retry-After.`;
    wait.hidden = left <= 0;
    if (button) button.disabled = left > 0;
    if (left > 0) setTimeout(tick, 250);
  };
  tick();
}

/**
 * @param {unknown} value
 * @returns {value is { members: Reading[] }}
 */
const hasMembers = (value) =>
  typeof value === 'object' && value !== null && 'members' in value && Array.isArray(value.members);

/** @param {unknown} history */
async function showHistory(history) {
  if (!hasMembers(history) || history.members.length === 0) return;
  const { members } = history;
  const script = await import('./chart.js').catch(() => undefined);
  if (script === undefined) {
    chartText.textContent = 'The line could not be loaded.';
    chart.hidden = false;
    return;
  }
  const { draw, lineOf } = script;
  const line = lineOf(members);
  const first = members[0];
  const last = members[members.length - 1];
  chartText.textContent =
    `Member history: ${members.length.toLocaleString('en')} readings, ` +
    `${first.member_count.toLocaleString('en')} members on ${first.measured_at.slice(0, 10)}, ` +
    `${last.member_count.toLocaleString('en')} on ${last.measured_at.slice(0, 10)}, ` +
    (line.gaps === 0
      ? 'no gaps.'
      : `${line.gaps.toLocaleString('en')} ${line.gaps === 1 ? 'gap' : 'gaps'} left open.`);
  chart.hidden = false;
  draw(plot, line);
}

/** Counts requests, so that a late answer does not replace a newer one. */
let latest = 0;

async function send() {
  const { name, path, parameter, history, page } = chosen();
  const url = urlOf(path, parameter).href;
  // The address of the page leads back to this request.
  const query = new URLSearchParams({ endpoint: name, ...(parameter && { value: input.value.trim() }) });
  globalThis.history.replaceState(null, '', `?${query}`);
  const request = (latest += 1);
  status.textContent = 'Sending …';
  status.classList.remove('bad');
  chart.hidden = true;
  record.hidden = true;
  const answer = await ask(url);
  if (request !== latest) return;
  showAnswer(answer);
  if (!answer.good) return;
  if (page !== undefined) {
    link.href = urlOf(page, parameter).href;
    record.hidden = false;
  }
  if (history === undefined) return;
  const found = history === path ? answer : await ask(urlOf(history, parameter).href);
  if (request === latest) await showHistory(found.value);
}

more.addEventListener('click', () => {
  highlight(body, whole);
  more.hidden = true;
});
/** The parts of the reference, with their documents in order. */
for (const part of new Set(endpoints.map((endpoint) => endpoint.part))) {
  const group = document.createElement('optgroup');
  group.label = part;
  const own = endpoints.filter((endpoint) => endpoint.part === part);
  group.append(...own.map(({ path, name }) => new Option(path, name)));
  select.append(group);
}
select.addEventListener('change', choose);
input.addEventListener('input', showRequest);
form?.addEventListener('submit', (event) => {
  event.preventDefault();
  void send();
});
const asked = new URLSearchParams(location.search);
select.value = asked.get('endpoint') ?? '';
if (select.selectedIndex === -1) select.selectedIndex = 0;
choose();
const value = asked.get('value');
if (value !== null) {
  input.value = value;
  showRequest();
}
