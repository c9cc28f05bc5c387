/**
 * Documents that draw on many records, in sections: a thread renders a section whole, and only if
 * something that it reads has changed.
 */
import type { Register } from '../register/database.js';
import type { Overview } from '../register/overview.js';
import type { FeedOperator } from './feeds/document.js';
import type { Output } from './output.js';

/** What may differ from the previous snapshot: values that the structured clone algorithm accepts. */
export interface SourceChanges {
  /** The changed tables; undefined if everything may have changed. */
  readonly tables: ReadonlySet<string> | undefined;
  /** The newest measurements, of the register now and in the previous snapshot; null if it was empty. */
  readonly asOf: readonly [now: string | null, then: string | null];
}

/** What sections are rendered from, besides the register. */
export interface SectionInputs {
  readonly operator: FeedOperator;
  readonly changes: SourceChanges;
  /** See `Section`; 0 if it has none. */
  readonly entries: number;
}

export interface Section {
  /** The name of its main route, or what its routes have in common. */
  readonly name: string;
  readonly routes: readonly string[];
  /** Those of its routes whose documents may have changed, if the build key is the same. */
  readonly due: (changes: SourceChanges) => readonly string[];
  /**
   * SQL of all that its documents are made from, as rows of one text: where these are the same, all are
   * kept. For documents that follow from few columns of tables, in which others change all the time.
   */
  readonly source?: string;
  /** How many entries are spread over its documents, at most. */
  readonly entries?: (overview: Overview) => number;
  /** Renders its due routes, each by ascending keys: documents that it does not yield are removed. */
  readonly render: (register: Register, inputs: SectionInputs) => Iterable<Output>;
}

/** Whether any of some tables may have changed. */
export const isAnyChanged = (tables: readonly string[], { tables: changed }: SourceChanges): boolean =>
  changed === undefined || tables.some((table) => changed.has(table));
