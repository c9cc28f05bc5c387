/**
 * Nearly everything the service says: the records, and what tells of their changes. Apart from the rest, since
 * threads render it that should not have to load more.
 */
import type { Register } from '../register/open.js';
import type { Scope } from '../register/sql.js';
import { RESOURCES } from '../resources/index.js';
import { routes } from '../routes.js';
import type { Layout } from '../routes.js';
import type { Imprint } from './feeds/document.js';
import { feeds } from './feeds/index.js';
import type { IsSame, Kept, Output } from './output.js';
import { records } from './records.js';

export interface Rendering {
  /** Whose documents are rendered. Feeds always tell of all. */
  readonly scope: Scope;
  /** Who publishes the feeds. */
  readonly imprint: Imprint;
  /** The newest measurement of the register. */
  readonly asOf: string | null;
  readonly layout: Layout;
  /** The names of feeds that are what they were, and are not rendered. */
  readonly staying: readonly string[];
}

/** `records`: them and their histories · `feeds`: what tells of their changes. */
export const PARTS = ['records', 'feeds'] as const;
export type Part = (typeof PARTS)[number];

export const isPart = (value: unknown): value is Part => PARTS.some((part) => part === value);

/** @param isSame of documents of the feeds (see there) */
export function* details(
  register: Register,
  part: Part,
  { scope, imprint, asOf, layout, staying }: Rendering,
  isSame?: IsSame,
): Generator<Output | Kept> {
  const table = routes(layout);
  if (part === 'feeds') yield* feeds(register, imprint, asOf, table, staying, isSame);
  else for (const resource of RESOURCES) yield* records(register, resource, table, scope);
}
