/** The page of one record: asks for its JSON and its history, and shows them. */
import { csvOf } from '../csv.js';
import { button, element, isolated, present, time } from './dom.js';
import {
  FIGURES,
  facts,
  isObject,
  isReading,
  listIn,
  missing,
  numberIn,
  objectIn,
  ownerWords,
  textIn,
} from './facts.js';
import { withArticle } from '../../../schema/words.js';
import { capital, fields, filled, kind, many, one, page, part, paths } from './page.js';
import { problem } from './problem.js';
import { readingsPart } from './readings.js';
import { ask } from './request.js';
import { VOTES, hasVotes, reference, summary } from './summary.js';
import { isEntry, scaleOf, timeline } from './timeline.js';
import { lineOf } from '../series.js';
import { integer, shortDay } from '../words.js';

/**
 * @typedef {import('./facts.js').Values} Values
 * @typedef {import('./request.js').Answer} Answer
 */

const host = part('record');
const status = part('record-status');

/** Shown elsewhere than among the facts. */
const APART = new Set(
  [
    'id',
    'platform_id',
    'name',
    'username',
    'state',
    'description',
    'owner_state',
    'owner',
    'creator',
    'peak',
    'change',
  ]
    .concat(['links', ...(hasVotes ? VOTES : [])])
    .concat(FIGURES[kind]),
);

/** @param {'done' | 'problem' | 'lookup'} state @param {...(Node | string)} content */
function show(state, ...content) {
  host.dataset['state'] = state;
  host.replaceChildren(...content);
}

/** How long the record has the connection for itself: half a second. */
const LOOKUP_MS = 500;

/** The field that finds records. Without its script it leads to the page that has it. */
function lookupField() {
  const template = part('lookup-form');
  const content = template instanceof HTMLTemplateElement ? template.content.cloneNode(true) : template;
  // It looks for fields in the page. After the record, so that it is there before the keyboard is.
  setTimeout(
    () => void import('./lookup.js').then(({ upgradeAll }) => upgradeAll()).catch(() => undefined),
    LOOKUP_MS,
  );
  return content;
}

const another = () =>
  element(
    'section',
    { class: 'another', 'aria-labelledby': 'another' },
    element('h2', { id: 'another' }, 'Look up another record'),
    lookupField(),
  );

/** @param {Values} record */
function factsPart(record) {
  const text = textIn(record.description) ?? '';
  // A record that is headed by its id on the platform has another here.
  const also = new Set([text === '' && 'description', textIn(record.platform_id) !== null && 'id']);
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
      element(
        'section',
        { 'aria-labelledby': 'description' },
        element('h2', { id: 'description' }, 'Description'),
        element('p', { class: 'description', dir: 'auto' }, text),
      ),
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

/** Rings readings in the chart, once there is one. @type {import('./summary.js').Mark} */
let mark = () => undefined;

/**
 * What is drawn as rows in time, by its member of the history, which is null if it is not measured.
 * @type {readonly { id: string, title: string, one: string, label: (entry: Values) => Node }[]}
 */
const TIMELINES = [
  {
    id: 'usernames',
    title: 'Usernames',
    one: 'username',
    label: ({ username }) => isolated(textIn(username) ?? ''),
  },
  { id: 'names', title: 'Names', one: 'name', label: ({ name }) => isolated(textIn(name) ?? '') },
  {
    id: 'owners',
    title: 'Owners',
    one: 'owner',
    label: ({ owner_state, owner }) => ownerWords(owner_state, owner, reference),
  },
];

/**
 * The parts that a history is for.
 * @param {Values} history
 * @param {Values} record
 * @param {string} path
 * @returns {HTMLElement[]}
 */
function historyParts(history, record, path) {
  const created = textIn(record.created_at);
  const measured = TIMELINES.filter(({ id }) => Array.isArray(history[id])).map((each) => ({
    ...each,
    entries: listIn(history[each.id], isEntry),
  }));
  const scale = scaleOf(
    measured.map(({ entries }) => entries),
    created,
  );
  const members = listIn(history.members, isReading);
  const gaps = lineOf(members).open.map(([from, to]) => ({ from: 1000 * from, to: 1000 * to }));
  const parts = measured.map((each) =>
    timeline({
      ...each,
      heading: element('h2', { id: each.id }, each.title),
      created,
      history: path,
      scale,
      gaps,
    }),
  );
  if (!Array.isArray(history.members)) return parts;
  const readings = readingsPart(members, path);
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
      element('a', { href: `${paths.docs}/guides/tools#chart` }, 'What else they take'),
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

/**
 * @param {unknown} value
 * @returns {value is Values & { id: number, measured_at: string }}
 */
const isRanked = (value) => isObject(value) && typeof value.id === 'number';

/** @param {string | null} at */
const dayOf = (at) => at !== null && time(at, shortDay(at));

/** Where the record stands among all of its kind: what is around it in the list of the first. */
function standingPart() {
  const { standing } = page;
  if (standing === undefined) return undefined;
  const { path, list: member, column, by } = standing;
  const words = element('p', {}, '…');
  const isDated = column === 'created_at';
  const list = element('ol', { class: `standing${isDated ? ' dated' : ''}` });
  const fillIn = async () => {
    const { good, summary: why, value } = await ask(path);
    const all = listIn(objectIn(value)?.[member], isRanked);
    /** Those of a list without ranks are in order. @param {number} index */
    const rankAt = (index) => numberIn(all[index]?.['rank']) ?? index + 1;
    const at = all.findIndex((each) => String(each.id) === id);
    words.replaceChildren(
      !good
        ? why
        : at < 0
          ? `Not among the first ${all.length} by ${by}, which begin with these.`
          : `Number ${rankAt(at)} by ${by}.`,
      ' ',
      link(path, 'The list as JSON'),
    );
    const from = Math.max(0, at - NEIGHBOURS);
    list.append(
      ...all
        .slice(from, from + 2 * NEIGHBOURS + 1)
        .map((each, index) =>
          element(
            'li',
            { 'aria-current': from + index === at && 'true' },
            element('span', { class: 'rank' }, String(rankAt(from + index))),
            link(`/${kind}/${each.id}`, isolated(textIn(each.name) ?? `${capital} ${each.id}`)),
            !isDated && element('b', { class: 'figure' }, integer(numberIn(each[column]) ?? 0)),
            dayOf(isDated ? textIn(each[column]) : each.measured_at),
          ),
        ),
    );
  };
  void fillIn();
  return element(
    'section',
    { 'aria-labelledby': 'standing' },
    element('h2', { id: 'standing' }, `Among all ${many}`),
    words,
    list,
  );
}

/** A browser has begun to save a file within a minute. */
const SAVED_MS = 60_000;

/**
 * Buttons that save the lists of a history, made here of what the page has loaded.
 * @param {Values} history
 */
function savingPart(history) {
  const lists = Object.entries({
    members: 'readings',
    names: 'names',
    owners: 'owners',
    usernames: 'usernames',
  })
    .map(([member, words]) => ({ words, entries: listIn(history[member], isObject) }))
    .filter(({ entries }) => entries.length > 0);
  const save = (/** @type {string} */ words, /** @type {readonly Values[]} */ entries) => {
    const csv = csvOf({ [`${kind}_id`]: history.id }, entries);
    const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv;charset=utf-8' }));
    element('a', { href: url, download: `${kind}-${numberIn(history.id)}-${words}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(url), SAVED_MS);
  };
  return (
    lists.length > 0 &&
    element(
      'p',
      { class: 'saving' },
      'Save as CSV:',
      ...lists.flatMap(({ words, entries }) => [' ', button(words, () => save(words, entries))]),
    )
  );
}

/** @param {string} id */
function showGone(id) {
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

/** @param {string} href @param {Node | string} words */
const link = (href, words) => element('a', { href }, words);

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
 * @param {Values} record
 * @param {Promise<Answer> | undefined} asked
 */
async function figureTime(record, asked) {
  const measured = textIn(record.measured_at) ?? undefined;
  const change = objectIn(record.change);
  if (asked === undefined || change === null || record.member_count === null) return measured;
  const newest = Object.values(change).find(isObject)?.to_at;
  if (typeof newest === 'string') return newest;
  const answer = await asked;
  if (!answer.good) return undefined;
  return listIn(objectIn(answer.value)?.members, isReading).at(-1)?.measured_at ?? measured;
}

/** @param {string} id */
async function load(id) {
  const path = paths.history === undefined ? undefined : filled(paths.history, id);
  const history = path === undefined ? undefined : ask(path);
  const answer = await ask(filled(paths.record, id));
  if (answer.status === 404) return showGone(id);
  if (!answer.good || !isObject(answer.value)) {
    const retry = () => void load(id);
    show('problem', element('h1', {}, `${capital} ${id}`), problem(answer, 'The record', retry));
    return;
  }
  const record = answer.value;
  const rest = element('div', { class: 'skeleton chart', 'aria-hidden': 'true' });
  const figureAt = await figureTime(record, history);
  show(
    'done',
    summary(record, id, (times) => mark(times), figureAt),
    rest,
  );
  status.textContent = 'The record is shown.';
  await fill(rest, record, path, history);
}

/**
 * Shows what comes below the head, with what the history has.
 * @param {HTMLElement} rest
 * @param {Values} record
 * @param {string | undefined} path
 * @param {Promise<Answer> | undefined} asked
 */
async function fill(rest, record, path, asked) {
  const answer = await asked;
  const history = answer?.good === true ? objectIn(answer.value) : null;
  const parts = history === null || path === undefined ? [] : historyParts(history, record, path);
  const retry = () => void fill(below, record, path, path === undefined ? undefined : ask(path));
  const below = element(
    'div',
    {},
    ...parts,
    ...present([
      history !== null && parts.length > 0 && savingPart(history),
      answer !== undefined && history === null && problem(answer, 'The history', retry),
      standingPart(),
      ...factsPart(record),
      embedPart(),
      another(),
    ]),
  );
  // A new element, since one that moves would count as a shift of the layout.
  rest.replaceWith(below);
}

// What the page says without this script, which may take longer than the service.
host.querySelector('.unscripted')?.remove();
const id = /^\/\w+\/(\d+)$/.exec(location.pathname)?.[1];
if (id === undefined) showLookup();
else void load(id);
