/** The content of a feed, in any format. */
import type { Operator } from '../../config/operator-file.js';

/** The publisher of a feed. */
export type FeedOperator = Pick<Operator, 'name' | 'url' | 'baseUrl' | 'licence' | 'tagAuthority' | 'words'>;

/** All text is well-formed (see text.ts). */
export interface FeedEntry {
  /** A tag URI (RFC 4151) derived from data: the same in every build. */
  readonly id: string;
  /** Plain text; measured values are in quotation marks. */
  readonly title: string;
  /** HTML; measured values are escaped. */
  readonly content: string;
  /**
   * When the register learned of it, RFC 3339 UTC in whole seconds; also the time of its last
   * update. Readers sort and filter by it, so a change that the platform dates years back is new.
   */
  readonly published: string;
  /** Absolute URL of the page about the entry's subject. */
  readonly url: string;
  /** Absolute URLs of JSON documents about it. */
  readonly related?: readonly string[];
  /** The same as the content, for programs: `_register` in JSON feeds (see facts.ts). */
  readonly facts?: () => Readonly<Record<string, unknown>>;
}

export interface FeedDocument {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly updated: string;
  /** Absolute URL of this document. */
  readonly self: string;
  /** Newest first. */
  readonly entries: readonly FeedEntry[];
}

/** The time of a feed without entries, since it must not come from a clock. */
export const NEVER = '1970-01-01T00:00:00Z';

/** A tag URI of this register. The year belongs to the scheme and never changes. */
export const tag = ({ tagAuthority }: FeedOperator, specific: string): string =>
  `tag:${tagAuthority},2026:${specific}`;
