/** What the generator wrote into the page of a kind of records. */
import { capitalized } from '../../../schema/words.js';
import type { RecordPage } from '../page-data.js';
import { part } from './dom.js';

// oxlint-disable-next-line typescript/no-unsafe-assignment
export const page: RecordPage = JSON.parse(part('record-data').textContent ?? '');
export const { kind, paths, fields } = page;

/** What a record is called, several of them are, and one is at the start of a sentence. */
export const { one, many } = page.words[kind];
export const capital = capitalized(one);

/** Whether the register measures a field. */
export const has = (name: string) => fields.some((field) => field.name === name);
