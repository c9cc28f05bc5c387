/** The documents of records that changed, one record after the other. */
import { rangesOf } from './sql.js';
import type { Register } from './database.js';
import type { Resource } from '../schema/field.js';
import { records } from './records.js';
import type { RecordDocument } from './records.js';

/** A record that changed, with its documents; without any if it is gone. */
export interface ChangedRecord {
  readonly key: number;
  readonly documents: readonly RecordDocument[];
}

/** @param changed ids of a kind, ascending; read twice */
export function* changedRecords(
  register: Register,
  resource: Resource,
  changed: () => Iterable<number>,
): Generator<ChangedRecord, void, undefined> {
  register.scope('changed', rangesOf(resource.kind, changed()));
  const outputs = records(register, resource, 'changed');
  try {
    let next = outputs.next();
    for (const key of changed()) {
      const documents: RecordDocument[] = [];
      for (; next.done !== true && next.value.key === key; next = outputs.next()) documents.push(next.value);
      yield { key, documents };
    }
  } finally {
    // A connection can't be closed while a query is open.
    outputs.return(undefined);
  }
}
