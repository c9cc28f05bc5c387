/** Records and times as the front page shows them: a link, a day. */
import { ROUTES, routeNamed } from '../../routes/routes.js';
import { filler } from '../../routes/route.js';
import { recordPage } from '../../routes/pages.js';
import type { Kind } from '../../schema/field.js';
import { capitalized, type InWords } from '../../schema/words.js';
import type { Renaming } from './documents.js';
import { clock, cut, moment, shortDay, visible } from './words.js';

export interface NamedRecord {
  readonly kind: Kind;
  readonly id: number;
  /** Null if it was not measured. */
  readonly name: string | null;
}

/** Where the page of a record is. */
export const pageOf = ({ kind, id }: Pick<NamedRecord, 'kind' | 'id'>): string =>
  filler(routeNamed(ROUTES, recordPage(kind)).path)(id);

/** Links to the page of a record. What has no name that can be seen is called by its id. */
export const linker =
  (inWords: InWords) =>
  ({ kind, id, name }: NamedRecord) => ({
    url: pageOf({ kind, id }),
    name: shown(name),
    instead: inWords(`${capitalized(kind)} ${id}`),
  });

export type Linker = ReturnType<typeof linker>;

/** A name as far as it is shown. */
const shown = (name: string | null): string | undefined => {
  const seen = visible(name);
  return seen === null ? undefined : cut(seen);
};

export const at = (time: string) => ({ time, day: shortDay(time), words: moment(time) });

/** A new name, the one before, and when it changed as far as that is known. */
export const renamed =
  (kind: Kind, linkTo: Linker) =>
  ({ id, from, to, changed_at, measured_at, previous_measured_at: previous }: Renaming) => {
    const [after, read] = [previous === null ? undefined : at(previous), at(measured_at)];
    // The same day is said once: between 03:10 and 04:12 UTC on 26 Nov 2026.
    const isOneDay = after?.day === read.day;
    return {
      ...linkTo({ kind, id, name: to }),
      from: shown(from),
      fromInstead: from === null ? 'not measured' : 'an empty name',
      changed: changed_at === null ? undefined : at(changed_at),
      after: after && { ...after, day: isOneDay ? clock(after.time) : after.day },
      read: { ...read, day: isOneDay ? `${clock(read.time)} UTC on ${read.day}` : read.day },
    };
  };
