/** One request to this service, and what came of it in words. */

/**
 * @typedef {object} Answer
 * @property {number} status 0 where there was no answer
 * @property {string} summary
 * @property {boolean} good
 * @property {string} text of the body, JSON indented
 * @property {unknown} value the JSON, undefined where there is none
 * @property {readonly (readonly [string, string])[]} headers
 * @property {number} waitSeconds how long to wait before the next request, 0 for not at all
 */

/**
 * @param {string} url
 * @returns {Promise<Answer>}
 */
export async function ask(url) {
  const begun = performance.now();
  let response;
  let text;
  try {
    response = await fetch(url);
    text = await response.text();
  } catch {
    return {
      status: 0,
      summary: navigator.onLine
        ? 'No response: the service could not be reached.'
        : 'No response: this device is offline.',
      good: false,
      text: '',
      value: undefined,
      headers: [],
      waitSeconds: 0,
    };
  }
  const milliseconds = Math.round(performance.now() - begun);
  const value = parsed(text);
  return {
    status: response.status,
    summary: `${response.status} ${titleOf(value) ?? response.statusText}, ${text.length.toLocaleString('en')} characters in ${milliseconds} ms`,
    good: response.ok,
    text: value === undefined ? text : JSON.stringify(value, null, 2),
    value,
    headers: [...response.headers],
    waitSeconds: response.status === 429 ? Number(response.headers.get('Retry-After') ?? 1) : 0,
  };
}

/**
 * @param {string} text
 * @returns {unknown}
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What a problem calls itself.
 * @param {unknown} value
 */
function titleOf(value) {
  if (typeof value !== 'object' || value === null || !('error' in value) || !('title' in value))
    return undefined;
  return String(value.title);
}
