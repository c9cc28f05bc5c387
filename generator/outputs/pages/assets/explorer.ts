/** The explorer: choose a document, fill in its parameter, see the request, the response and, of a group, its history. */
import type { Explorable } from '../page-data.js';
import { amount, integer } from '../words.js';
import { element, part } from './dom.js';
import { highlight } from './highlight.js';
import { ask, countDown, type Answer } from './request.js';
import { isReading, listIn, objectIn } from './values.js';

/** The lines of a longer body that are shown until the user asks for more. */
const SHOWN_LINES = 120;

const form = part('explorer').querySelector('form');
const button = form?.querySelector('button');
const select = part('explorer-endpoint', HTMLSelectElement);
const field = part('explorer-field');
const input = part('explorer-value', HTMLInputElement);
const label = field.querySelector('label');
const status = part('explorer-status');
const wait = part('explorer-wait');
const body = part('explorer-body');
const more = part('explorer-more');
const chart = part('explorer-chart');
const chartText = part('explorer-chart-text');
const record = part('explorer-page');

// oxlint-disable-next-line typescript/no-unsafe-assignment
const endpoints: readonly [Explorable, ...Explorable[]] = JSON.parse(
  part('explorer-data').textContent ?? '[]',
);

const chosen = () => endpoints[select.selectedIndex] ?? endpoints[0];

/** A path with the parameter filled in, as the browser will ask for it. */
function urlOf(path: string) {
  const { parameter } = chosen();
  const value = input.value.trim();
  const url = new URL(path.replace(/\{\w+\}/, encodeURIComponent(value)), location.origin);
  if (parameter?.in === 'query' && value !== '')
    url.search = `?${parameter.name}=${encodeURIComponent(value)}`;
  return url.href;
}

function choose() {
  const { parameter, description: what } = chosen();
  part('explorer-about').textContent = what;
  field.hidden = parameter === undefined;
  if (parameter !== undefined) {
    const { name, description, minimum, maximum, example } = parameter;
    if (label !== null) label.textContent = name;
    part('explorer-hint').textContent =
      minimum === undefined ? description : `${description}, ${minimum} to ${maximum}`;
    input.value = example;
  }
  showRequest();
}

function showRequest() {
  part('explorer-curl').textContent = `curl "${urlOf(chosen().path)}"`;
}

/** The body shown, of which only the beginning may be visible. */
let whole = '';

function showAnswer({ status: code, summary, good, text, value, headers, waitSeconds }: Answer) {
  whole = value === undefined ? text : JSON.stringify(value, null, 2);
  status.textContent = summary;
  status.classList.toggle('bad', !good);
  part('explorer-answer').hidden = code === 0;
  const lines = whole.split('\n');
  const isLong = lines.length > SHOWN_LINES;
  highlight(body, isLong ? `${lines.slice(0, SHOWN_LINES).join('\n')}\n…` : whole);
  more.hidden = !isLong;
  more.textContent = `Show all ${integer(lines.length)} lines`;
  part('explorer-headers').replaceChildren(
    ...headers.map(([name, each]) => element('div', {}, element('dt', {}, name), element('dd', {}, each))),
  );
  if (waitSeconds === 0) return;
  // Refused: says when the next request passes, and lets it be sent then.
  countDown(waitSeconds, (left) => {
    wait.textContent = `The next request is allowed in ${left} s, according to Retry-After.`;
    wait.hidden = left === 0;
    if (button) button.disabled = left > 0;
  });
}

async function showHistory(history: unknown) {
  const readings = listIn(objectIn(history)?.['members'], isReading);
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined) return;
  const script = await import('./chart.js').catch(() => undefined);
  chart.hidden = false;
  chartText.textContent = 'The line could not be loaded.';
  if (script === undefined) return;
  const line = script.lineOf(readings);
  chartText.textContent =
    `Member history: ${amount(readings.length, 'reading')}, ` +
    `${integer(first.member_count)} members on ${first.measured_at.slice(0, 10)}, ` +
    `${integer(last.member_count)} on ${last.measured_at.slice(0, 10)}, ` +
    (line.gaps === 0 ? 'no gaps.' : `${amount(line.gaps, 'gap')} left open.`);
  script.draw(part('explorer-plot'), line);
}

/** Counts requests, so that a late answer does not replace a newer one. */
let latest = 0;

async function send() {
  const { name, path, parameter, history, page } = chosen();
  const [url, link, more] = [path, page, history].map((each) => each && urlOf(each));
  // The address of the page leads back to this request.
  const query = new URLSearchParams({ endpoint: name, ...(parameter && { value: input.value.trim() }) });
  globalThis.history.replaceState(null, '', `?${query}`);
  const request = (latest += 1);
  status.textContent = 'Sending …';
  status.classList.remove('bad');
  chart.hidden = true;
  record.hidden = true;
  const answer = await ask(url ?? path);
  if (request !== latest) return;
  showAnswer(answer);
  if (!answer.good) return;
  if (link !== undefined) {
    part('explorer-link', HTMLAnchorElement).href = link;
    record.hidden = false;
  }
  if (more === undefined) return;
  const found = history === path ? answer : await ask(more);
  if (request === latest) await showHistory(found.value);
}

more.addEventListener('click', () => {
  highlight(body, whole);
  more.hidden = true;
});
/** The parts of the reference, with their documents in order. */
for (const title of new Set(endpoints.map((endpoint) => endpoint.part))) {
  const own = endpoints.filter((endpoint) => endpoint.part === title);
  const options = own.map(({ path, name }) => new Option(path, name));
  select.append(element('optgroup', { label: title }, ...options));
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
input.value = asked.get('value') ?? input.value;
showRequest();
