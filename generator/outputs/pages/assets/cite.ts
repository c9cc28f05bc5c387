/** How to cite a record: what it is, of which snapshot, when it was read, under which licence. */
import { moment } from '../words.js';
import { button, copied, element } from './dom.js';
import { problem } from './problem.js';
import { ask } from './request.js';
import { numberIn, objectIn } from './values.js';

export interface Source {
  /** Of the record: `Snowy River Workshop (group 45)`. */
  readonly title: string;
  readonly register: string;
  readonly url: string;
  readonly licence: { readonly name: string; readonly url: string };
  readonly readAt: string;
  /** Path of the snapshot's description. */
  readonly snapshot: string;
}

/** Fills a part with the sentence; the number of the snapshot is asked for only now. */
export async function cite(part: HTMLElement, source: Source) {
  const { title, register, url, licence, readAt, snapshot } = source;
  part.replaceChildren(element('p', { class: 'note' }, 'One moment …'));
  const answer = await ask(snapshot);
  if (!answer.good)
    return part.replaceChildren(problem(answer, 'The number of the snapshot', () => void cite(part, source)));
  const sequence = numberIn(objectIn(answer.value)?.['sequence']);
  const numbered = sequence === null ? '' : `, snapshot ${sequence}`;
  const sentence = `${title}. ${register}${numbered}, read ${moment(readAt)}. ${url}. ${licence.name}, ${licence.url}`;
  const text = element('p', {}, element('bdi', {}, sentence));
  const status = element('span', { role: 'status', class: 'note' });
  const copy = async () => {
    status.textContent = (await copied(sentence, text))
      ? ' Copied.'
      : ' The browser does not allow it here; the sentence is selected instead.';
  };
  part.replaceChildren(
    text,
    element(
      'p',
      {},
      button('Copy', () => void copy()),
      status,
    ),
  );
}
