/** One request to this service, and what came of it in words. */
import { parseJson } from '../../../base/portable.js';
import { integer } from '../words.js';
import { isObject } from './values.js';

export interface Answer {
  /** 0 where there was no answer. */
  readonly status: number;
  readonly summary: string;
  readonly good: boolean;
  readonly text: string;
  /** The JSON, undefined where there is none. */
  readonly value: unknown;
  readonly headers: readonly (readonly [string, string])[];
  /** How long to wait before the next request, 0 for not at all. */
  readonly waitSeconds: number;
}

/** A path with its id. */
export const filled = (path: string, id: string | number) => path.replace('{id}', String(id));

export async function ask(url: string): Promise<Answer> {
  const begun = performance.now();
  try {
    const response = await fetch(url);
    const text = await response.text();
    const milliseconds = Math.round(performance.now() - begun);
    const { status, ok: good, headers, statusText } = response;
    const value = parseJson(text);
    const title =
      isObject(value) && 'error' in value && 'title' in value ? String(value['title']) : statusText;
    return {
      status,
      summary: `${status} ${title}, ${integer(text.length)} characters in ${milliseconds} ms`,
      good,
      text,
      value,
      headers: [...headers],
      waitSeconds: status === 429 ? Number(headers.get('Retry-After') ?? 1) : 0,
    };
  } catch {
    const why = navigator.onLine ? 'the service could not be reached' : 'this device is offline';
    const summary = `No response: ${why}.`;
    return { status: 0, summary, good: false, text: '', value: undefined, headers: [], waitSeconds: 0 };
  }
}

const known = new Map<string, Promise<Answer>>();

/** Asks for what is kept until the page is left, unless it could not be had. */
export function askOnce(url: string): Promise<Answer> {
  const asked = known.get(url) ?? ask(url);
  known.set(url, asked);
  void asked.then(({ good }) => good || known.delete(url));
  return asked;
}

/** Whether a document is here already, or on its way. */
export const isAsked = (url: string): boolean => known.has(url);
/** Has a document asked for again. */
export const forget = (url: string): boolean => known.delete(url);

/**
 * Counts down to when the next request is allowed.
 * @param tell is called with the seconds left, 0 at last; false ends the counting
 */
export function countDown(seconds: number, tell: (left: number) => unknown): void {
  const end = performance.now() + seconds * 1000;
  const tick = () => {
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    if (tell(left) !== false && left > 0) setTimeout(tick, 250);
  };
  tick();
}
