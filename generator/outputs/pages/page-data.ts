/** What the generator writes into pages for their scripts. */
import type { Kind } from '../../schema/field.js';
import type { Word } from '../../schema/words.js';

/** For the field that finds records. */
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

interface Licence {
  readonly name: string;
  readonly url: string;
}

/** What the schema says of a field, in the operator's words. */
export interface PageField {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly unit?: string | undefined;
  readonly nullMeans?: string | undefined;
  readonly meanings?: Readonly<Record<string, string>> | undefined;
}

/** For the page of a kind of records. */
export interface RecordPage {
  readonly kind: Kind;
  /** Of the register. */
  readonly name: string;
  readonly base: string;
  readonly licence: Licence;
  /** What the kinds are called. */
  readonly words: Readonly<Record<Kind, Word>>;
  /** Those that the register has. */
  readonly kinds: readonly Kind[];
  /** Paths of what there is. */
  readonly paths: Readonly<Record<'page' | 'record' | 'snapshot' | 'docs' | 'embed', string>> & {
    readonly history?: string;
    readonly feed?: string;
  };
  /** Those that the register measures. */
  readonly fields: readonly PageField[];
  /** The list of the first of the kind, and what it is by. */
  readonly standing?: Readonly<Record<'path' | 'list' | 'column' | 'by', string>> | undefined;
}

/** What the chart in pages of others can show of a kind. */
export interface EmbeddedKind {
  /** What a record is called. */
  readonly one: string;
  /** Path of the page of a record. */
  readonly page: string;
  /** Path of its JSON. */
  readonly record: string;
  readonly history?: string;
  /** The lists in that history, of which the first is shown unless another value is asked for. */
  readonly lists: readonly string[];
  /** The counts in the record. */
  readonly counts: readonly { readonly name: string; readonly unit?: string | undefined }[];
}

/** For the chart in pages of others. */
export interface EmbeddedRegister {
  readonly name: string;
  readonly licence: Licence;
  /** Those that it measures. */
  readonly kinds: Readonly<Partial<Record<Kind, EmbeddedKind>>>;
}

/** A document to try in the explorer. */
export interface Explorable {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  /** The title of its page in the reference. */
  readonly part: string;
  readonly parameter?: {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly description: string;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly example: string;
  };
  /** The path template of the member history that it contains or links to. */
  readonly history?: string;
  /** The path template of the page about its record. */
  readonly page?: string;
}

/** What the search of the documentation finds: headings and terms, and the words below each. */
export interface SearchIndex {
  readonly pages: readonly {
    readonly path: string;
    readonly title: string;
    readonly places: readonly (readonly [isHeading: 0 | 1, id: string, text: string, words: string])[];
  }[];
}
