/** Documents in sections, which threads render. A section knows nothing of earlier builds. */
import type { KeyRange } from '../routes/keys.js';
import type { Register } from '../register/database.js';
import type { Overview } from '../register/overview.js';
import type { Kind } from '../schema/field.js';
import type { FeedOperator } from './feeds/document.js';
import type { Output } from './output.js';

/** What sections are rendered from, besides the register: values that the structured clone algorithm accepts. */
export interface SectionInputs {
  readonly operator: FeedOperator;
  /** The newest measurement; null if there is none. */
  readonly asOf: string | null;
  /** See `Section`; 0 if it has none. */
  readonly entries: number;
  /** The keys to render; all, unless the section is split. */
  readonly range: KeyRange;
}

export interface Section {
  /** The name of its main route, or what its routes have in common. */
  readonly name: string;
  readonly routes: readonly string[];
  /** The kind whose ids its keys are, if it can be rendered by ranges of them. */
  readonly split?: Kind;
  /** How many entries are spread over its documents, at most. */
  readonly entries?: (overview: Overview) => number;
  /** Renders its documents, those of each route by ascending keys. */
  readonly render: (register: Register, inputs: SectionInputs) => Iterable<Output>;
}
