/** What the main thread and the thread that renders say to each other. */
import type { WriteRequest } from '../exports/messages.js';
import type { Rendering } from '../outputs/details.js';
import type { Folders } from '../publish/inputs.js';
import type { IdRange } from '../register/sql.js';
import { isObject } from '../threads/messages.js';
import type { Members } from '../threads/messages.js';
import type { SurveyedTable } from './survey.js';

/**
 * `survey`: what changed in a table · `render`: the details, in batches. `taken` counts the batches that the main
 * thread is done with.
 */
export type RenderRequest =
  | WriteRequest
  | { readonly do: 'survey'; readonly table: string; readonly folders: Folders }
  | {
      readonly do: 'render';
      readonly rendering: Rendering;
      readonly ranges: readonly IdRange[];
      readonly folders: Folders;
      readonly taken: Int32Array<SharedArrayBuffer>;
    };

/** @throws TypeError: a defect of ours */
export function asRenderRequest(message: Members): RenderRequest {
  if (isRenderRequest(message)) return message;
  throw new TypeError(`not a request: ${String(message['do'])}`);
}

/** As deep as it takes to tell the requests apart: both ends are ours, and are compiled together. */
function isRenderRequest(message: Members): message is Members & RenderRequest {
  const { do: what, table, folder, folders, rendering, ranges, taken } = message;
  if (what === 'write') return typeof table === 'string' && typeof folder === 'string';
  if (!isObject(folders)) return false;
  if (what === 'survey') return typeof table === 'string';
  return what === 'render' && isObject(rendering) && Array.isArray(ranges) && taken instanceof Int32Array;
}

/** @throws TypeError: a defect of ours */
export function asSurveyed(value: unknown): SurveyedTable {
  if (isObject(value) && isSurveyed(value)) return value;
  throw new TypeError('not what a survey comes to');
}

const isSurveyed = (value: Members): value is Members & SurveyedTable =>
  Array.isArray(value['changed']) && typeof value['isWornOut'] === 'boolean' && isSums(value['sums']);

const isSums = (value: unknown): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((sum) => typeof sum === 'string');

/** The checksums of files of inputs, by file. @throws TypeError: a defect of ours */
export function asSums(value: unknown): Readonly<Record<string, string>> {
  if (isSums(value)) return value;
  throw new TypeError(`not checksums: ${JSON.stringify(value)}`);
}
