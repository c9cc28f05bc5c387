/** Rows as CSV (RFC 4180): UTF-8 without BOM, CRLF, a header row. */
import { stringify } from 'csv-stringify/sync';
import type { Options } from 'csv-stringify/sync';
import type { Cell } from './rows.js';

const OPTIONS: Options = {
  record_delimiter: '\r\n',
  // Nothing stands for null, and quotes around nothing for a measured empty text.
  quoted_match: /^$/,
  // A line break of any sort, not only CRLF.
  quote_record_delimiter: true,
  // Left to itself, false comes out as nothing.
  cast: { boolean: String },
};

/** Records with a line end behind each. Values are exact: nothing is escaped for spreadsheets. */
export const csv = (records: Cell[][]): string => stringify(records, OPTIONS);
