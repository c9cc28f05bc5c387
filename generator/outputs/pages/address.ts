/** What somebody typed to find a record. Runs in the browser, compiled, and in tests. */
import type { Kind } from '../../schema/field.js';
import type { Word } from '../../schema/words.js';

/**
 * An id, which may be a name as well; or a name, or the platform's id; with the kind if it was an address. Or nothing that
 * leads anywhere.
 */
export type Sought =
  | { readonly is: 'record'; readonly kind?: Kind; readonly id: string; readonly name?: string }
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
 * Takes an id, an address that contains one, or a name. Digits are an id and a name, in quotes a name
 * alone.
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
  const name = /^#?(\d+)$/u.exec(text)?.[1];
  if (name !== undefined) {
    const id = withoutZeros(name);
    return isId(id) ? { is: 'record', id, name } : { is: 'name', name };
  }
  for (const [, word = '', id = ''] of text.matchAll(ADDRESS)) {
    const segment = word.toLowerCase();
    const kind =
      kinds.find((called) => [called.one, called.many].some((each) => each.toLowerCase() === segment))
        ?.kind ?? SEGMENTS.get(segment);
    if (kind !== undefined) return recordWith(kind, withoutZeros(id), hasPlatformIds);
  }
  if (LOOKS_LIKE_ADDRESS.test(text)) return { is: 'nothing', why: 'This address has no id of a record.' };
  return { is: 'name', name: text };
}

const withoutZeros = (digits: string): string => digits.replace(/^0+(?=\d)/u, '');
const isId = (digits: string): boolean => digits !== '0' && Number.isSafeInteger(Number(digits));

function recordWith(kind: Kind, id: string, hasPlatformIds: boolean): Sought {
  if (isId(id)) return { is: 'record', kind, id };
  if (id !== '0' && hasPlatformIds) return { is: 'name', name: id, kind };
  return { is: 'nothing', why: `${id} is no id: ids are from 1 to 9,007,199,254,740,991.` };
}
