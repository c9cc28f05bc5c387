/** In which signed snapshot the documents of a page are, with the proofs to save. */
import { button, element } from './dom.js';
import { hashed, prove } from '../../../programs/log/tlog/prove.js';

/**
 * @typedef {object} Shown a document that the page shows
 * @property {string} what it is, in a word
 * @property {string} route
 * @property {number} key
 * @property {string} path
 * @property {string} body
 *
 * @typedef {{ base: string, guide: string }} Place where the service is, and where it says what a proof is
 */

/** `/group/45/history.json` -> `group-45-history.tlog-proof` @param {string} path */
const fileName = (path) => `${path.replace(/^\/(api\/v1\/)?|\.json$/g, '').replaceAll('/', '-')}.tlog-proof`;

/**
 * A file of the service; undefined where there is none.
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<Uint8Array | undefined>}
 */
async function get(path, options = {}) {
  const response = await fetch(path, options).catch(() => {
    throw new Error('the service could not be reached');
  });
  if (response.status === 404) return undefined;
  if (response.status === 429)
    throw new Error(
      `too many requests came from your network; try again in ${response.headers.get('Retry-After') ?? 'some'} seconds`,
    );
  if (!response.ok) throw new Error(`the service could not send ${path} (${response.status})`);
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * A document as it is now, whatever copy of it the browser has.
 * @param {string} path
 */
async function hashedDocument(path) {
  const content = await get(path, { cache: 'no-cache' });
  return content && hashed(content);
}

/** A link that saves a text as a file. @param {string} name @param {string} text */
const download = (name, text) =>
  element('a', { href: URL.createObjectURL(new Blob([text])), download: name }, name);

/**
 * Says of a document what is known once it is known.
 * @param {Shown} shown
 */
function standing({ what, path, route, key, body }) {
  const part = element('div', { role: 'status', tabindex: '-1' });
  /** @param {...(Node | string)} content */
  const say = (...content) => part.replaceChildren(element('p', {}, ...content));
  /** @param {number} ms */
  const wait = (ms) => {
    say('A snapshot is being published, or a cache is older than another. Trying again …');
    return new Promise((/** @type {(value: void) => void} */ done) => setTimeout(done, ms));
  };
  const find = async () => {
    say('One moment …');
    try {
      const request = { path, route, key: { value: key, parse: Number } };
      const proof = await prove(request, { get, document: hashedDocument, wait });
      const { sha256 } = await hashed(new TextEncoder().encode(body));
      // Both are from this service, so what differs is what the page has had for some time.
      if (sha256 !== proof.sha256) {
        return say(
          `This page shows an older copy of the ${what} than signed snapshot ${proof.sequence} lists. `,
          button('Reload', () => location.reload()),
        );
      }
      const snapshot = element('b', {}, `signed snapshot ${proof.sequence}`);
      say(`This ${what} is listed in `, snapshot, '. Proof: ', download(fileName(path), proof.text));
    } catch (error) {
      say(
        `No proof could be made: ${error instanceof Error ? error.message : String(error)}. `,
        button('Try again', () => {
          part.focus();
          void find();
        }),
      );
    }
  };
  void find();
  return part;
}

/** How to do without a browser what it doesn't allow here. @param {Shown} shown @param {string} base */
const command = ({ path }, base) =>
  element('p', {}, element('code', {}, `register-api prove ${base} ${path} --write ${fileName(path)}`));

/**
 * Fills a part of the page.
 * @param {HTMLElement} part
 * @param {readonly Shown[]} documents
 * @param {Place} place
 */
export function show(part, documents, { base, guide }) {
  const link = element('a', { href: guide }, 'guide to the signed log');
  // Browsers hash only for pages that came by TLS, or from this machine.
  const isAble = globalThis.crypto?.subtle !== undefined;
  part.replaceChildren(
    ...(isAble
      ? documents.map(standing)
      : [
          element(
            'p',
            {},
            'A browser makes proofs only on pages that it got by https. The program that publishes this service makes them, too:',
          ),
          ...documents.map((each) => command(each, base)),
        ]),
    element(
      'p',
      { class: 'note' },
      'This page and the key come from one place, so the page claims no more. Verify the proof with a key that you have from elsewhere. The ',
      link,
      ' says how, and what a proof proves.',
    ),
  );
}
