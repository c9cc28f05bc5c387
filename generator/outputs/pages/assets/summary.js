/** The head of a record's page: what it is, the numbers that matter, when they were read. */
import { button, element, isolated, none, time, unloaded } from './dom.js';
import { FIGURES, isObject, labelOf, numberIn, objectIn, ownerWords, reasonFor, textIn } from './facts.js';
import { capital, fields, filled, has, kind, one, page, part, paths } from './page.js';
import { cut, difference, integer, moment } from '../words.js';

/** Names of more characters are set smaller, so that the number stays on the first screen. */
const LONG_NAME = 60;
/** How much of a name a title has. */
const TITLE_NAME = 80;

/**
 * @typedef {import('./facts.js').Values} Values
 * @typedef {(times: readonly string[]) => void} Mark rings readings in the chart, by their times
 */

const PRICES = ['price', 'lowest_resale_price', 'recent_average_price'];

export const VOTES = ['up_votes', 'down_votes'];
/** The share of votes needs both. */
export const hasVotes = VOTES.every(has);

const CHANGES = /** @type {const} */ ([
  ['h24', 'in a day'],
  ['d7', 'in a week'],
  ['d30', 'in 30 days'],
]);

/**
 * A record that this one names. It need not be in the register, so a note says where it is not; that
 * is found out when somebody is about to follow it, by a request that costs no token of the API. The
 * link stays, since it may have the focus, or a finger on it.
 * @param {'group' | 'user'} to
 * @param {number} id
 * @param {unknown} name
 */
export function reference(to, id, name) {
  const words = typeof name === 'string' && name !== '' ? isolated(name) : `${page.words[to].one} ${id}`;
  // No record of a kind that the register lacks has a page.
  if (!page.kinds.includes(to)) return element('span', {}, words);
  const link = element('a', { href: `/${to}/${id}` }, words);
  const holder = element('span', {}, link);
  const note = element('span', { class: 'note' }, ' (not in this register)');
  const check = async () => {
    const response = await fetch(link.href, { method: 'HEAD' }).catch(() => undefined);
    if (response?.status !== 404 || holder.contains(note)) return;
    holder.append(note);
    part('record-status').textContent = `${holder.textContent}.`;
  };
  for (const event of ['pointerenter', 'focus'])
    link.addEventListener(event, () => void check(), { once: true });
  return holder;
}

/** What is said of a name that is cut. @param {string} name */
const cutNote = (name) =>
  `Cut after ${integer(Array.from(cut(name)).length - 1)} of ${integer(Array.from(name).length)} characters; the JSON has all.`;

/** @param {Values} record */
function byline(record) {
  if (has('owner') || has('owner_state'))
    return element(
      'p',
      { class: 'byline' },
      'Owner: ',
      ownerWords(record.owner_state, record.owner, reference),
    );
  if (!has('creator')) return null;
  const { type, id, name } = objectIn(record.creator) ?? {};
  return (type === 'user' || type === 'group') && typeof id === 'number'
    ? element('p', { class: 'byline' }, 'By ', reference(type, id, name), `, ${page.words[type].one} ${id}`)
    : element('p', { class: 'byline' }, 'Creator: ', none('not measured, or not published'));
}

/**
 * A number with what it counts; nothing if the record says why there is none.
 * @param {Values} record
 * @param {string} name
 */
function figure(record, name) {
  const value = numberIn(record[name]);
  const label = name === 'member_count' ? 'members' : labelOf(name).toLowerCase();
  const total = name === 'quantity_remaining' ? numberIn(record.quantity_total) : null;
  if (value === null)
    return reasonFor(record, name) === undefined
      ? element('span', {}, none('not measured'), ` ${label}`)
      : null;
  const words = total === null ? label : `of ${integer(total)} copies left`;
  return element('span', {}, element('b', { class: 'figure' }, integer(value)), ` ${words}`);
}

/** The price of what has none, in a word. @param {Values} record @param {string} name */
function mainReason(record, name) {
  const reason = name === 'price' ? reasonFor(record, name) : undefined;
  return reason === undefined ? null : element('b', { class: 'figure small' }, 'No price in the catalogue');
}

/** @param {Values} record */
function votes(record) {
  const [up, down] = [numberIn(record.up_votes), numberIn(record.down_votes)];
  if (up === null || down === null) return element('p', { class: 'votes' }, 'Votes: ', none('not measured'));
  const all = up + down;
  if (all === 0) return element('p', { class: 'votes' }, 'No votes.');
  const bar = element('span');
  // The policy allows no style attributes, but properties that a script sets.
  bar.style.width = `${(100 * up) / all}%`;
  return element(
    'p',
    { class: 'votes' },
    element('span', { class: 'share', 'aria-hidden': 'true' }, bar),
    `${((100 * up) / all).toFixed(1)} % of ${integer(all)} votes are for it`,
    element('span', { class: 'note' }, ` (${integer(up)} for, ${integer(down)} against)`),
  );
}

/**
 * The changes, each with its two readings.
 * @param {Values} changes
 * @param {Mark} mark
 */
function changeList(changes, mark) {
  if (CHANGES.every(([name]) => objectIn(changes[name]) === null))
    return [
      element(
        'p',
        { class: 'note change-note' },
        'No change is given: no reading is about a day, a week or 30 days older than the latest.',
      ),
    ];
  const usual = 'Each is the difference between two readings.';
  const note = element('p', { class: 'note change-note', 'aria-hidden': 'true' }, usual);
  const items = CHANGES.map(([name, words]) => {
    const change = objectIn(changes[name]);
    if (change === null) return element('li', {}, none('no reading to compare with'), ` ${words}`);
    const { delta, from, to } = change;
    const times = [change.from_at, change.to_at].map(String);
    const [first, last] = times.map(moment);
    const readings = `from ${integer(Number(from))} on ${first} to ${integer(Number(to))} on ${last}`;
    const each = button('', () => undefined, { class: 'change' });
    each.append(
      element('b', { class: 'figure' }, difference(Number(delta))),
      ` ${words}`,
      element('span', { class: 'hidden' }, `, ${readings}`),
    );
    const tell = () => {
      note.textContent = `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${readings}.`;
      mark(times);
    };
    const hush = () => {
      if (each.matches(':focus, :hover')) return;
      note.textContent = usual;
      mark([]);
    };
    for (const event of ['pointerenter', 'focus', 'click']) each.addEventListener(event, tell);
    for (const event of ['pointerleave', 'blur']) each.addEventListener(event, hush);
    return element('li', {}, each);
  });
  return [element('ul', { class: 'changes' }, ...items), note];
}

/**
 * A button, and the part that it opens: how to cite a record, which a script of its own writes.
 * @param {import('./cite.js').Source} source
 */
function citing(source) {
  const id = 'citation';
  const opened = element('div', { id, class: 'opened', hidden: true });
  const refill = async () => {
    const script = await import('./cite.js').catch(() => undefined);
    if (script !== undefined) return script.cite(opened, source);
    opened.replaceChildren(unloaded('The sentence to cite could not be loaded.', retry));
  };
  const retry = () => {
    opener.focus();
    void refill();
  };
  const toggle = () => {
    opened.hidden = !opened.hidden;
    opener.setAttribute('aria-expanded', String(!opened.hidden));
    if (!opened.hidden) void refill();
  };
  const opener = button('Cite', toggle, { 'aria-expanded': 'false', 'aria-controls': id });
  return { opened, opener };
}

/**
 * @param {Values} record
 * @param {string} id
 * @param {Mark} mark
 * @param {string | undefined} figureAt when the number that matters was read
 */
export function summary(record, id, mark, figureAt) {
  const nameField = kind === 'user' ? 'username' : 'name';
  const name = textIn(record[nameField]);
  // What the platform calls it is what people search for; where there is none, the id is that.
  const number = textIn(record.platform_id) ?? id;
  const state = textIn(record.state);
  const meaning = fields.find((each) => each.name === 'state')?.meanings?.[state ?? ''];
  const readAt = textIn(record.measured_at) ?? '';
  const isNamed = name !== null && name.trim() !== '';
  const called = isNamed ? `${cut(name, TITLE_NAME)} · ${one} ${number}` : `${capital} ${number}`;
  document.title = `${called} – ${page.name}`;
  const citation = citing({
    title: isNamed ? `${cut(name)} (${one} ${number})` : `${capital} ${number}`,
    register: page.name,
    url: page.base + filled(paths.page, id),
    licence: page.licence,
    readAt,
    snapshot: paths.snapshot,
  });
  const links = [
    ['JSON', filled(paths.record, id)],
    ...(paths.history === undefined ? [] : [['History', filled(paths.history, id)]]),
  ].map(([words, href]) => element('li', {}, element('a', { href }, words)));
  const [main, ...others] = FIGURES[kind].filter(has);
  const figures = others.flatMap((each) => figure(record, each) ?? []);
  const shownName = textIn(record.display_name);
  return element(
    'header',
    { class: 'record-head' },
    element(
      'div',
      { class: 'bar' },
      element(
        'p',
        { class: 'kicker' },
        `${capital} `,
        element('bdi', {}, number),
        ...(has('state')
          ? [
              ' · ',
              element(
                'b',
                { class: state === 'present' ? 'state' : 'state changed' },
                state ?? 'state not measured',
              ),
            ]
          : []),
        state !== 'present' && meaning !== undefined && element('span', { class: 'meaning' }, `: ${meaning}`),
      ),
      element('ul', { class: 'record-links' }, ...links, element('li', {}, citation.opener)),
    ),
    citation.opened,
    name === null
      ? element('h1', {}, `${capital} ${number} `, has(nameField) && none(`${nameField} not measured`))
      : element(
          'h1',
          { dir: 'auto', class: name.length > LONG_NAME && 'long' },
          isNamed ? cut(name) : '(an empty name)',
        ),
    name !== null && name !== cut(name) && element('p', { class: 'note' }, cutNote(name)),
    byline(record),
    element(
      'p',
      { class: 'main-figure' },
      main !== undefined && (figure(record, main) ?? mainReason(record, main)),
      shownName !== null && shownName !== name && element('span', {}, 'shown as ', isolated(shownName)),
      element(
        'span',
        { class: 'note' },
        main === undefined ? 'last read ' : figureAt === undefined ? 'record last read ' : 'read ',
        time(figureAt ?? readAt, moment(figureAt ?? readAt)),
      ),
    ),
    element(
      'ul',
      { class: 'figures' },
      ...figures.map((each) => element('li', {}, each)),
      kind === 'item' &&
        PRICES.some((each) => numberIn(record[each]) !== null) &&
        element(
          'li',
          { class: 'note' },
          `prices in ${fields.find(({ name: each }) => PRICES.includes(each))?.unit}`,
        ),
    ),
    hasVotes && votes(record),
    ...(has('change') && isObject(record.change) ? changeList(record.change, mark) : []),
  );
}
