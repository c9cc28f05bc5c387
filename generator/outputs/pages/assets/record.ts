/** The page of one record: asks for its JSON and its history, and shows them. */
import { withArticle } from '../../../schema/words.js';
import { csvOf } from '../csv.js';
import { integer, shortDay, visible } from '../words.js';
import { button, element, isolated, link, part, time, type Child } from './dom.js';
import { FIGURES, facts, missing } from './facts.js';
import { capital, fields, kind, many, one, page, paths } from './page.js';
import { problem } from './problem.js';
import { readingsPart } from './readings.js';
import { ask, filled, type Answer } from './request.js';
import { VOTES, hasVotes, readNote, reference, summary, type Mark } from './summary.js';
import { TIMELINES, timelines } from './timeline.js';
import {
  isObject,
  isReading,
  lastReading,
  listIn,
  numberIn,
  objectIn,
  shaped,
  textIn,
  type Values,
} from './values.js';

const host = part('record');
const status = part('record-status');

const headings = 'id platform_id name username state description owner_state owner creator peak change links';
/** Shown elsewhere than among the facts. */
const APART = new Set([...headings.split(' '), ...(hasVotes ? VOTES : []), ...FIGURES[kind]]);

function show(state: 'done' | 'problem' | 'lookup', ...content: readonly (Node | string)[]) {
  host.dataset['state'] = state;
  const hadFocus = host.contains(document.activeElement);
  host.replaceChildren(...content);
  if (hadFocus) focus(host);
}

/** Moves the focus to what took the place of a button that was pressed. */
function focus(place: HTMLElement) {
  place.tabIndex = -1;
  place.focus();
}

/** A section with its heading. */
const section = (id: string, title: string, ...parts: readonly Child[]) =>
  element('section', { 'aria-labelledby': id }, element('h2', { id }, title), ...parts);

/** How long the record has the connection for itself: half a second. */
const LOOKUP_MS = 500;

/** The field that finds records. Without its script it leads to the page that has it. */
function lookupField() {
  // It looks for fields in the page. After the record, so that it is there before the keyboard is.
  setTimeout(
    () => void import('./lookup.js').then(({ upgradeAll }) => upgradeAll()).catch(() => undefined),
    LOOKUP_MS,
  );
  return part('lookup-form', HTMLTemplateElement).content.cloneNode(true);
}

const another = () =>
  element(
    'section',
    { class: 'another', 'aria-labelledby': 'another' },
    element('h2', { id: 'another' }, 'Look up another record'),
    lookupField(),
  );

function factsPart(record: Values) {
  const text = textIn(record['description']) ?? '';
  // A record that is headed by its id on the platform has another here.
  const also = new Set([text === '' && 'description', textIn(record['platform_id']) !== null && 'id']);
  const others = fields.filter(({ name }) => !APART.has(name) || also.has(name));
  const absent = missing(fields, record);
  const list = facts(others, record);
  // Where there is room, the meanings are shown anyway.
  const explaining = button(
    'What these mean',
    () => explaining.setAttribute('aria-expanded', String(list.classList.toggle('explained'))),
    { class: 'explaining', 'aria-expanded': 'false' },
  );
  return [
    text !== '' &&
      section('description', 'Description', element('p', { class: 'description', dir: 'auto' }, text)),
    element(
      'section',
      { 'aria-labelledby': 'facts' },
      element('div', { class: 'bar' }, element('h2', { id: 'facts' }, 'Facts'), explaining),
      list,
      absent.length > 0 &&
        element('p', {}, 'Not measured, or not published: ', element('b', {}, absent.join(', ')), '.'),
    ),
  ];
}

/** Rings readings in the chart, once there is one. */
let mark: Mark = () => undefined;

/** The parts that a history is for. */
function historyParts(history: Values, record: Values, url: string) {
  const created = textIn(record['created_at']);
  const parts = timelines(history, TIMELINES, { tag: 'h2', created, url, reference });
  if (!Array.isArray(history['members'])) return parts;
  const readings = readingsPart(listIn(history['members'], isReading), url);
  mark = readings.mark;
  return [readings.part, ...parts];
}

/** The lines that show the record in any page. */
function embedPart() {
  const lines = [
    `<script type="module" src="${page.base}${paths.embed}"></script>`,
    `<register-chart ${kind}="${id}"></register-chart>`,
  ].join('\n');
  const holder = element(
    'div',
    { class: 'copyable', 'data-copy': 'the two lines' },
    element('pre', { class: 'code', tabindex: '0' }, element('code', {}, lines)),
  );
  const details = element(
    'details',
    { class: 'embedding' },
    element('summary', {}, 'Embed'),
    holder,
    element(
      'p',
      { class: 'note' },
      'These two lines show it in any page, with its source and when it was measured. ',
      link(`${paths.docs}/guides/tools#chart`, 'What else they take'),
      '.',
    ),
  );
  const addButton = async () => {
    const script = await import('./copy.js').catch(() => undefined);
    // Without the button, the lines can be selected.
    script?.makeCopyable(holder);
  };
  details.addEventListener('toggle', () => void addButton(), { once: true });
  return details;
}

/** How many are shown before and after a record. */
const NEIGHBOURS = 2;
const isRanked = shaped({ id: 'number' });
const dayOf = (at: string | null) => at !== null && time(at, shortDay(at));

/** Where the record stands among all of its kind: what is around it in the list of the first. */
function standingPart() {
  const { standing } = page;
  if (standing === undefined) return undefined;
  const { path, list: member, column, by } = standing;
  const words = element('div', {}, element('p', {}, '…'));
  const isDated = column === 'created_at';
  const list = element('ol', { class: isDated ? 'standing dated' : 'standing' });
  const fillIn = async () => {
    const answer = await ask(path);
    if (!answer.good) return words.replaceChildren(problem(answer, 'The list', () => void fillIn()));
    // Those of a list without ranks are in order.
    const all = listIn(objectIn(answer.value)?.[member], isRanked).map((each, index) => ({
      each,
      rank: numberIn(each['rank']) ?? index + 1,
    }));
    if (all.length === 0) return whole.remove();
    const at = all.findIndex(({ each }) => String(each.id) === id);
    const where =
      at < 0
        ? `Not among the first ${all.length} by ${by}, which begin with these.`
        : `Number ${all[at]?.rank} by ${by}.`;
    words.replaceChildren(element('p', {}, where, ' ', link(path, 'The list as JSON')));
    const from = Math.max(0, at - NEIGHBOURS);
    for (const { each, rank } of all.slice(from, from + 2 * NEIGHBOURS + 1))
      list.append(
        element(
          'li',
          { 'aria-current': String(each.id) === id && 'true' },
          element('span', { class: 'rank' }, String(rank)),
          link(`/${kind}/${each.id}`, isolated(visible(textIn(each['name'])) ?? `${capital} ${each.id}`)),
          !isDated && element('b', { class: 'figure' }, integer(numberIn(each[column]) ?? 0)),
          dayOf(textIn(each[isDated ? column : 'measured_at'])),
        ),
      );
  };
  const whole = section('standing', `Among all ${many}`, words, list);
  void fillIn();
  return whole;
}

/** A browser has begun to save a file within a minute. */
const SAVED_MS = 60_000;
/** The lists of a history, and what their files are called. */
const SAVED = { members: 'readings', names: 'names', owners: 'owners', usernames: 'usernames' };

/** Buttons that save the lists of a history, made here of what the page has loaded. */
function savingPart(history: Values) {
  const buttons = Object.entries(SAVED).flatMap(([member, words]) => {
    const entries = listIn(history[member], isObject);
    const save = () => {
      const csv = csvOf({ [`${kind}_id`]: history['id'] }, entries);
      const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv;charset=utf-8' }));
      element('a', { href: url, download: `${kind}-${numberIn(history['id'])}-${words}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(url), SAVED_MS);
    };
    return entries.length > 0 ? [' ', button(words, save)] : [];
  });
  return buttons.length > 0 && element('p', { class: 'saving' }, 'Save as CSV:', ...buttons);
}

function showGone(id: string) {
  document.title = `No ${one} ${id} – ${page.name}`;
  show(
    'problem',
    element('p', { class: 'kicker' }, `${capital} ${id}`),
    element('h1', {}, `No ${one} ${id} in this register`),
    element(
      'p',
      { class: 'lede' },
      'It was not measured, or its record is no longer published. The number may also belong to a record of another kind.',
    ),
    another(),
  );
}

function showLookup() {
  show(
    'lookup',
    element('h1', {}, `Look up ${withArticle(one)}`),
    element('p', { class: 'lede' }, `Each ${one} has a page with all that was measured of it, and when.`),
    lookupField(),
    element(
      'p',
      {},
      `Or take ${many} all at once from the `,
      link('/downloads', 'downloads'),
      ...(paths.feed === undefined ? [] : [', follow what changes in the ', link(paths.feed, 'feed')]),
      ', or read how programs ask for them in the ',
      link('/developers', 'documentation'),
      '.',
    ),
  );
}

/**
 * When the number that matters was read: a count with its newest reading, to which each change leads, all else with the
 * record. Undefined if nobody knows: the history, which would say it, could not be loaded.
 */
async function figureTime(record: Values, asked: Promise<Answer> | undefined) {
  const measured = textIn(record['measured_at']) ?? undefined;
  const change = objectIn(record['change']);
  if (asked === undefined || change === null || record['member_count'] === null) return measured;
  const newest = lastReading(change);
  if (newest !== null) return newest;
  const answer = await asked;
  if (!answer.good) return undefined;
  return listIn(objectIn(answer.value)?.['members'], isReading).at(-1)?.measured_at ?? measured;
}

/** Undefined if the kind has no history. */
const historyPath = (id: string) => paths.history && filled(paths.history, id);

async function load(id: string) {
  const path = historyPath(id);
  const history = path === undefined ? undefined : ask(path);
  const answer = await ask(filled(paths.record, id));
  if (answer.status === 404) return showGone(id);
  if (!answer.good || !isObject(answer.value)) {
    const retry = () => void load(id);
    return show('problem', element('h1', {}, `${capital} ${id}`), problem(answer, 'The record', retry));
  }
  await present(answer.value, id, history);
}

/** Shows a record, and what its history has once that is there. */
async function present(record: Values, id: string, asked: Promise<Answer> | undefined) {
  const rest = element('div', { class: 'skeleton chart', 'aria-hidden': 'true' });
  const figureAt = await figureTime(record, asked);
  show(
    'done',
    summary(record, id, (times) => mark(times), figureAt),
    rest,
  );
  status.textContent = 'The record is shown.';
  const [path, answer] = [historyPath(id), await asked];
  // A new element, since one that moves would count as a shift of the layout.
  rest.replaceWith(
    element(
      'div',
      {},
      answer !== undefined && path !== undefined && historyPart(record, path, answer),
      standingPart(),
      ...factsPart(record),
      embedPart(),
      another(),
    ),
  );
}

/** What a history has, or why it is not there: then the part is replaced once it is, and the rest of the page stays. */
function historyPart(record: Values, path: string, answer: Answer): HTMLElement {
  const history = answer.good ? objectIn(answer.value) : null;
  const retry = async () => {
    const again = await ask(path);
    const next = historyPart(record, path, again);
    const hadFocus = own.contains(document.activeElement);
    own.replaceWith(next);
    if (hadFocus) focus(next);
    if (!again.good) return;
    // The time in the head comes from the history, too.
    const at = await figureTime(record, Promise.resolve(again));
    host.querySelector('.main-figure > .note')?.replaceWith(readNote(record, at));
  };
  const parts = history === null ? [] : historyParts(history, record, path);
  const own = element(
    'div',
    {},
    ...parts,
    history !== null && parts.length > 0 && savingPart(history),
    history === null && problem(answer, 'The history', () => void retry()),
  );
  return own;
}

// What the page says without this script, which may take longer than the service.
host.querySelector('.unscripted')?.remove();
const id = /^\/\w+\/(\d+)$/.exec(location.pathname)?.[1];
if (id === undefined) showLookup();
else void load(id);
