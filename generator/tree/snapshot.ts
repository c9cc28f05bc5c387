/** Reads the snapshot.json of a tree, and says what identifies it. */
import { hash } from 'node:crypto';
import * as z from 'zod';
import { Failure } from '../base/errors.js';
import { readText } from '../base/files.js';
import { parseJson } from '../base/portable.js';
import { FORMAT, publishedSchema, placeOf, type PublishedSnapshot } from './snapshot-json.js';

/**
 * @returns a tree's snapshot.json; undefined if there is none
 * @throws Failure invalid: this generator did not write it
 */
export function readSnapshot(file: string): PublishedSnapshot | undefined {
  const content = readText(file);
  if (content === undefined) return undefined;
  const value = parseJson(content);
  const result = publishedSchema.safeParse(value);
  if (result.success) return result.data;
  const { format } = z.object({ format: z.int() }).safeParse(value).data ?? {};
  if (format !== undefined && format !== FORMAT) {
    const instead =
      format > FORMAT ? 'use the newer version' : 'delete its folder and its state, and build again';
    throw Failure.invalid(`"${file}" is of format ${format}, expected ${FORMAT}: ${instead}`);
  }
  throw Failure.invalid(
    `"${file}" ${value === undefined ? 'is not JSON' : 'was not written by this program'}${placeOf(result.error)}: ` +
      'if its folder is a published tree, "verify --repair" repairs it, otherwise choose another',
  );
}

/** The first match is the member itself: within a text before it, quotes would be escaped. */
const BUILT_AT = /"built_at":"[0-9TZ:.+-]*"/;

/** A snapshot.json with another time of the build. */
export const withBuiltAt = (text: string, time: string): string =>
  text.replace(BUILT_AT, `"built_at":"${time}"`);

/** SHA-256, in hex, of a snapshot.json: two with the same differ in nothing but the time of the build. */
export const snapshotHash = (text: string): string => hash('sha256', withBuiltAt(text, ''));
