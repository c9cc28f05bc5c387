/** Headings and fields of a page as its contents, its links and its search find them. */

/** A place in a page that can be linked to. */
export interface LinkTarget {
  readonly id: string;
  readonly text: string;
  readonly is: 'heading' | 'term';
  /** The words below it, up to the next place: each once, in lower case, in order. */
  readonly words: string;
}

/** `<h2 id="…">…</h2>`, or `<div id="…"><dt><code>…</code>` for a field or an error. */
const PLACE = /<(h[23]) id="([\w-]+)">([^]*?)<\/\1>|<div id="([\w-]+)">\s*<dt><code>([^]*?)<\/code>/g;

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Samples and the record in plain words are left out: their words change with every snapshot. */
const SAMPLE = /<pre[^]*?<\/pre>|<dl class="fields-of aloud">[^]*?<\/dl>/g;
/** Of three characters at least, which nearly all that are sought have. */
const WORD = /[\p{L}\p{N}][\p{L}\p{N}_.-]+[\p{L}\p{N}_]/gu;

const wordsOf = (html: string): string => {
  const text = textOf(html.replaceAll(SAMPLE, ' ').replaceAll('<', ' <')).toLowerCase();
  return [...new Set(text.match(WORD))].join(' ');
};

/** All places of a page, in its order. */
export const placesOf = (html: string): LinkTarget[] =>
  [...html.matchAll(PLACE)].map((match, index, all) => {
    const [whole, , heading, title = '', term = '', name = ''] = match;
    const words = wordsOf(html.slice(match.index + whole.length, all[index + 1]?.index));
    return heading === undefined
      ? { id: term, text: textOf(name), is: 'term', words }
      : { id: heading, text: textOf(title), is: 'heading', words };
  });

/** The page with headings that are links to themselves. */
export const withAnchors = (html: string): string =>
  html.replaceAll(
    /<(h[23]) id="([\w-]+)">([^]*?)<\/\1>/g,
    (_, tag: string, id: string, text: string) =>
      `<${tag} id="${id}"><a class="anchor" href="#${id}">${text}</a></${tag}>`,
  );
