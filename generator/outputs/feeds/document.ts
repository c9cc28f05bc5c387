/** What a feed says, whatever the format. */
import type { Operator } from '../../config.js';

/** Who publishes a feed: as much of the operator as feeds name, and as snapshot.json keeps for a rollback. */
export type FeedOperator = Pick<Operator, 'name' | 'url' | 'baseUrl' | 'licence' | 'tagAuthority'>;

/** All text is well-formed (see text.ts). */
export interface Entry {
  /** A tag URI (RFC 4151) made from data: the same in every build, in every document. */
  readonly id: string;
  /** Plain text, measured values isolated. */
  readonly title: string;
  /** HTML, measured values escaped. */
  readonly content: string;
  /** RFC 3339 UTC in whole seconds, as is `updated`: the reading that learned of it, when it is news. */
  readonly published: string;
  /** When it happened, which may be long before. */
  readonly updated: string;
  /** Absolute URL of what the entry is about. */
  readonly url: string;
  /** Absolute URL of its history, where it has one. */
  readonly history?: string;
}

export interface FeedDocument {
  /** Of the feed as a whole: its archive documents have the same. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly updated: string;
  /** Absolute URL of this document. */
  readonly self: string;
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** The documents beside this one: relation -> absolute URL (RFC 5005). */
  readonly links: Readonly<Record<string, string>>;
  /** Whether its entries are older ones, which are complete. */
  readonly isArchive: boolean;
}

/** A feed without entries was never updated, and its time must come from no clock. */
export const NEVER = '1970-01-01T00:00:00Z';

/** A tag URI of this register's. The year is that of the scheme, and stays. */
export const tag = ({ tagAuthority }: FeedOperator, specific: string): string =>
  `tag:${tagAuthority},2026:${specific}`;

/** The terms of reuse, as a sentence. */
export const rights = ({ name, url, licence }: FeedOperator): string =>
  `Free to reuse under ${licence.name} (${licence.url}). Credit ${name} with a link to ${url}.`;
