/** What the generator writes into a page for the script of the field that finds records. */
import type { Kind } from '../../schema/field.js';
import type { Word } from '../../schema/words.js';

export interface LookupField {
  /** Where the form leads without its script. */
  readonly action: string;
  /** The kinds that can be looked up, with what they are called. */
  readonly kinds: readonly (Word & { readonly kind: Kind })[];
  /** Those that are found by name. */
  readonly named: readonly Kind[];
  /** Those that are found by the platform's id of them. */
  readonly identified: readonly Kind[];
  /** Whether former names are found, too. */
  readonly hasFormer: boolean;
  readonly label: string;
  readonly hint: string;
}
