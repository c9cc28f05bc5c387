/** What somebody typed to find a record. Runs in the browser, compiled, and in tests. */
import type { Kind } from '../../schema/field.js';
import type { Word } from '../../schema/words.js';

/** An id; or a name, or the platform's id; with the kind if it was an address. Or nothing that leads anywhere. */
export type Sought =
  | { readonly is: 'record'; readonly kind: Kind | undefined; readonly id: string }
  | { readonly is: 'name'; readonly name: string; readonly kind?: Kind | undefined }
  | { readonly is: 'nothing'; readonly why: string };

/** What stands before the id in addresses of this service and of platforms. */
const SEGMENTS: ReadonlyMap<string, Kind> = new Map([
  ['group', 'group'],
  ['groups', 'group'],
  ['communities', 'group'],
  ['user', 'user'],
  ['users', 'user'],
  ['game', 'game'],
  ['games', 'game'],
  ['experiences', 'game'],
  ['item', 'item'],
  ['items', 'item'],
  ['catalog', 'item'],
  ['library', 'item'],
]);

/** An address has a slash followed by one of these words; a name seldom does. */
const ADDRESS = /(?:^|\/)([a-z]+)\/(\d+)(?=\.json$|[/?#]|$)/giu;
const LOOKS_LIKE_ADDRESS = /^(?:[a-z]+:)?\/\//iu;

/**
 * Takes an id, an address that contains one, or a name. A name of digits is put in quotes, since
 * digits are an id.
 * @param kinds what the operator calls the kinds, which may stand in addresses of the platform, too
 * @param hasPlatformIds whether the platform has ids of its own, which may be longer numbers
 */
export function soughtBy(
  input: string,
  kinds: readonly (Word & { readonly kind: Kind })[] = [],
  hasPlatformIds = false,
): Sought {
  const text = input.trim();
  if (text === '') return { is: 'nothing', why: 'Enter an id, an address or a name.' };
  const quoted = /^"(.+)"$/u.exec(text)?.[1];
  if (quoted !== undefined) return { is: 'name', name: quoted };
  const digits = /^#?0*(\d+)$/u.exec(text)?.[1];
  if (digits !== undefined) return recordWith(undefined, digits, hasPlatformIds);
  for (const [, word = '', id = ''] of text.matchAll(ADDRESS)) {
    const segment = word.toLowerCase();
    const kind =
      kinds.find((called) => [called.one, called.many].some((each) => each.toLowerCase() === segment))
        ?.kind ?? SEGMENTS.get(segment);
    if (kind !== undefined) return recordWith(kind, id.replace(/^0+(?=\d)/u, ''), hasPlatformIds);
  }
  if (LOOKS_LIKE_ADDRESS.test(text)) return { is: 'nothing', why: 'This address has no id of a record.' };
  return { is: 'name', name: text };
}

function recordWith(kind: Kind | undefined, id: string, hasPlatformIds: boolean): Sought {
  if (id !== '0' && Number.isSafeInteger(Number(id))) return { is: 'record', kind, id };
  if (id !== '0' && hasPlatformIds) return { is: 'name', name: id, kind };
  return { is: 'nothing', why: `${id} is no id: ids are from 1 to 9,007,199,254,740,991.` };
}
