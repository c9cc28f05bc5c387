/** What threads answer that survey and render. */
import type { RowCounts } from '../register/published.js';
import { isObject } from '../threads/messages.js';
import type { Members } from '../threads/messages.js';
import type { SurveyedTable } from './survey.js';

/** The tables that a thread looked at, by name. @throws TypeError: a defect of ours */
export function asSurveyed(value: unknown): Readonly<Record<string, SurveyedTable>> {
  if (isObject(value) && isSurveyed(value)) return value;
  throw new TypeError('not what a survey comes to');
}

const isSurveyed = (value: Members): value is Readonly<Record<string, SurveyedTable>> =>
  Object.values(value).every(
    (table) =>
      isObject(table) &&
      (table['changed'] === undefined || Array.isArray(table['changed'])) &&
      typeof table['isWornOut'] === 'boolean' &&
      areCounts(table['counts']) &&
      isSums(table['sums']),
  );

const areCounts = (value: unknown): value is RowCounts =>
  isObject(value) && typeof value['rows'] === 'number' && typeof value['records'] === 'number';

const isSums = (value: unknown): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((sum) => typeof sum === 'string');

/** The checksums of files of inputs, by file. @throws TypeError: a defect of ours */
export function asSums(value: unknown): Readonly<Record<string, string>> {
  if (isSums(value)) return value;
  throw new TypeError(`not checksums: ${JSON.stringify(value)}`);
}
