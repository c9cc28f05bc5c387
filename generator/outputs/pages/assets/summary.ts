/** The head of a record's page: what it is, the numbers that matter, when they were read. */
import { capitalized } from '../../../schema/words.js';
import type { Kind } from '../../../schema/field.js';
import { cut, difference, integer, moment, visible } from '../words.js';
import type { Source } from './cite.js';
import { button, element, isolated, link, none, part, time } from './dom.js';
import { FIGURES, labelOf, ownerWords, reasonFor } from './facts.js';
import { capital, fields, has, kind, one, page, paths } from './page.js';
import { unloaded } from './problem.js';
import { filled } from './request.js';
import { numberIn, objectIn, textIn, type Values } from './values.js';

/** Names of more characters are set smaller, so that the number stays on the first screen. */
const LONG_NAME = 60;
/** How much of a name a title has. */
const TITLE_NAME = 80;

/** Rings readings in the chart, by their times. */
export type Mark = (times: readonly string[]) => void;

const PRICES = ['price', 'lowest_resale_price', 'recent_average_price'];

export const VOTES = ['up_votes', 'down_votes'];
/** The share of votes needs both. */
export const hasVotes = VOTES.every(has);

const CHANGES = [
  ['h24', 'in a day'],
  ['d7', 'in a week'],
  ['d30', 'in 30 days'],
] as const;

/**
 * A record that this one names. It need not be in the register, so a note says where it is not; that
 * is found out when somebody is about to follow it, by a request that costs no token of the API. The
 * link stays, since it may have the focus, or a finger on it.
 */
export function reference(to: Kind, id: number, name: unknown) {
  const words = typeof name === 'string' && name !== '' ? isolated(name) : `${page.words[to].one} ${id}`;
  // No record of a kind that the register lacks has a page.
  if (!page.kinds.includes(to)) return element('span', {}, words);
  const leading = link(`/${to}/${id}`, words);
  const holder = element('span', {}, leading);
  const note = element('span', { class: 'note' }, ' (not in this register)');
  const check = async () => {
    const response = await fetch(leading.href, { method: 'HEAD' }).catch(() => undefined);
    if (response?.status !== 404 || holder.contains(note)) return;
    holder.append(note);
    part('record-status').textContent = `${holder.textContent}.`;
  };
  for (const event of ['pointerenter', 'focus'])
    leading.addEventListener(event, () => void check(), { once: true });
  return holder;
}

const charactersOf = (text: string) => integer(Array.from(text).length);

const paragraph = (name: string, ...parts: readonly (Node | string)[]) =>
  element('p', { class: name }, ...parts);

function byline(record: Values) {
  if (has('owner') || has('owner_state'))
    return paragraph('byline', 'Owner: ', ownerWords(record, reference));
  if (!has('creator')) return null;
  const { type, id, name } = objectIn(record['creator']) ?? {};
  return (type === 'user' || type === 'group') && typeof id === 'number'
    ? paragraph('byline', 'By ', reference(type, id, name), `, ${page.words[type].one} ${id}`)
    : paragraph('byline', 'Creator: ', none('not measured, or not published'));
}

/** A number with what it counts; nothing if the record says why there is none. */
function figure(record: Values, name: string) {
  const value = numberIn(record[name]);
  const label = name === 'member_count' ? 'members' : labelOf(name).toLowerCase();
  const total = name === 'quantity_remaining' ? numberIn(record['quantity_total']) : null;
  if (value === null)
    return reasonFor(record, name) === undefined
      ? element('span', {}, none('not measured'), ` ${label}`)
      : null;
  const words = total === null ? label : `of ${integer(total)} copies left`;
  return element('span', {}, element('b', { class: 'figure' }, integer(value)), ` ${words}`);
}

/** The number that matters; the price of what has none, in a word. */
const mainFigure = (record: Values, name: string) =>
  figure(record, name) ??
  (name === 'price' && element('b', { class: 'figure small' }, 'No price in the catalogue'));

function votes(record: Values) {
  const [up, down] = [numberIn(record['up_votes']), numberIn(record['down_votes'])];
  if (up === null || down === null) return paragraph('votes', 'Votes: ', none('not measured'));
  const all = up + down;
  if (all === 0) return paragraph('votes', 'No votes.');
  const bar = element('span');
  // The policy allows no style attributes, but properties that a script sets.
  bar.style.width = `${(100 * up) / all}%`;
  return paragraph(
    'votes',
    element('span', { class: 'share', 'aria-hidden': 'true' }, bar),
    `${((100 * up) / all).toFixed(1)} % of ${integer(all)} votes are for it`,
    element('span', { class: 'note' }, ` (${integer(up)} for, ${integer(down)} against)`),
  );
}

/** The changes, each with its two readings. */
function changeList(changes: Values, mark: Mark) {
  const known = CHANGES.map(([name, words]) => ({ words, change: objectIn(changes[name]) }));
  const usual = known.some(({ change }) => change !== null)
    ? 'Each is the difference between two readings.'
    : 'No change is given: no reading is about a day, a week or 30 days older than the latest.';
  const note = element('p', { class: 'note change-note' }, usual);
  if (known.every(({ change }) => change === null)) return [note];
  // Each says its own.
  note.setAttribute('aria-hidden', 'true');
  const items = known.map(({ words, change }) => {
    if (change === null) return element('li', {}, none('no reading to compare with'), ` ${words}`);
    const numberOf = (name: string) => Number(change[name]);
    const times = [change['from_at'], change['to_at']].map(String);
    const [first, last] = times.map(moment);
    const readings = `from ${integer(numberOf('from'))} on ${first} to ${integer(numberOf('to'))} on ${last}`;
    const tell = () => {
      note.textContent = `${capitalized(words)}: ${readings}.`;
      mark(times);
    };
    const hush = () => {
      if (each.matches(':focus, :hover')) return;
      note.textContent = usual;
      mark([]);
    };
    const each = button('', tell, { class: 'change' });
    each.append(
      element('b', { class: 'figure' }, difference(numberOf('delta'))),
      ` ${words}`,
      element('span', { class: 'hidden' }, `, ${readings}`),
    );
    for (const event of ['pointerenter', 'focus']) each.addEventListener(event, tell);
    for (const event of ['pointerleave', 'blur']) each.addEventListener(event, hush);
    return element('li', {}, each);
  });
  return [element('ul', { class: 'changes' }, ...items), note];
}

/** A button, and the part that it opens: how to cite a record, which a script of its own writes. */
function citing(source: Source) {
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

/** What the record is, and whether it is still there. */
function kicker(record: Values, number: string) {
  const state = textIn(record['state']);
  const meaning = fields.find((each) => each.name === 'state')?.meanings?.[state ?? ''];
  const isPresent = state === 'present';
  return element(
    'p',
    { class: 'kicker' },
    `${capital} `,
    element('bdi', {}, number),
    has('state') && ' · ',
    has('state') &&
      element('b', { class: isPresent ? 'state' : 'state changed' }, state ?? 'state not measured'),
    !isPresent && meaning !== undefined && element('span', { class: 'meaning' }, `: ${meaning}`),
  );
}

/** When the record was read. @param figureAt when the number that matters was read */
export function readNote(record: Values, figureAt: string | undefined) {
  const at = figureAt ?? textIn(record['measured_at']) ?? '';
  const words = !FIGURES[kind].some(has)
    ? 'last read '
    : figureAt === undefined
      ? 'record last read '
      : 'read ';
  return element('span', { class: 'note' }, words, time(at, moment(at)));
}

/** @param figureAt see `readNote` */
export function summary(record: Values, id: string, mark: Mark, figureAt: string | undefined) {
  const nameField = kind === 'user' ? 'username' : 'name';
  const name = textIn(record[nameField]);
  // What the platform calls it is what people search for; where there is none, the id is that.
  const number = textIn(record['platform_id']) ?? id;
  const readAt = textIn(record['measured_at']) ?? '';
  const called = visible(name);
  document.title = `${called === null ? `${capital} ${number}` : `${cut(called, TITLE_NAME)} · ${one} ${number}`} – ${page.name}`;
  const citation = citing({
    title: called === null ? `${capital} ${number}` : `${cut(called)} (${one} ${number})`,
    register: page.name,
    url: page.base + filled(paths.page, id),
    licence: page.licence,
    readAt,
    snapshot: paths.snapshot,
  });
  const heading =
    name === null
      ? element('h1', {}, `${capital} ${number} `, has(nameField) && none(`${nameField} not measured`))
      : element(
          'h1',
          { dir: 'auto', class: name.length > LONG_NAME && 'long' },
          called === null ? '(an empty name)' : cut(name),
        );
  const [main, ...others] = FIGURES[kind].filter(has);
  const shownName = textIn(record['display_name']);
  const hasPrice = kind === 'item' && PRICES.some((each) => numberIn(record[each]) !== null);
  const unit = fields.find((each) => PRICES.includes(each.name))?.unit;
  return element(
    'header',
    { class: 'record-head' },
    element(
      'div',
      { class: 'bar' },
      kicker(record, number),
      element(
        'ul',
        { class: 'record-links' },
        element('li', {}, link(filled(paths.record, id), 'JSON')),
        paths.history !== undefined && element('li', {}, link(filled(paths.history, id), 'History')),
        element('li', {}, citation.opener),
      ),
    ),
    citation.opened,
    heading,
    name !== null &&
      name !== cut(name) &&
      element(
        'p',
        { class: 'note' },
        `Cut after ${charactersOf(cut(name).slice(0, -1))} of ${charactersOf(name)} characters; the JSON has all.`,
      ),
    byline(record),
    element(
      'p',
      { class: 'main-figure' },
      main !== undefined && mainFigure(record, main),
      shownName !== null && shownName !== name && element('span', {}, 'shown as ', isolated(shownName)),
      readNote(record, figureAt),
    ),
    element(
      'ul',
      { class: 'figures' },
      ...others.map((each) => figure(record, each)).map((each) => each && element('li', {}, each)),
      hasPrice && element('li', { class: 'note' }, `prices in ${unit}`),
    ),
    hasVotes && votes(record),
    ...(objectIn(record['change']) !== null && has('change')
      ? changeList(objectIn(record['change']) ?? {}, mark)
      : []),
  );
}
