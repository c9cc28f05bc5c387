/** Headings and fields of a page as its contents, its links and its search find them. */

/** A place in a page that can be linked to. */
export interface LinkTarget {
  readonly id: string;
  readonly text: string;
  readonly is: 'heading' | 'term';
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

/** All places of a page, in its order. */
export const placesOf = (html: string): LinkTarget[] =>
  [...html.matchAll(PLACE)].map(([, , heading, title = '', term = '', name = '']) =>
    heading === undefined
      ? { id: term, text: textOf(name), is: 'term' }
      : { id: heading, text: textOf(title), is: 'heading' },
  );

/** The page with headings that are links to themselves. */
export const withAnchors = (html: string): string =>
  html.replaceAll(
    /<(h[23]) id="([\w-]+)">([^]*?)<\/\1>/g,
    (_, tag: string, id: string, text: string) =>
      `<${tag} id="${id}"><a class="anchor" href="#${id}">${text}</a></${tag}>`,
  );
