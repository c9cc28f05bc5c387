/** Further names of documents: hard links where the file system has them. */
import { existsSync, linkSync, rmSync } from 'node:fs';
import { codeOf } from '../base/errors.js';
import { halves } from '../routes/route.js';
import type { AliasPlace } from './lists.js';

/** The files and URL paths of further names. */
export function aliasNames({ path, file }: AliasPlace) {
  const [start, end] = halves(file);
  const [before, after] = halves(path);
  return {
    fileOf: (text: string): string => start + text + end,
    urlOf: (name: string): string => before + name.slice(start.length, name.length - end.length) + after,
  };
}

/**
 * Whether nothing is in the place of a name of a published file, nor of its siblings. A rename from one
 * name of a file to another one does nothing, and a commit would never end.
 */
export const isFreeFor = (path: string, suffixes: readonly string[]): boolean =>
  !suffixes.some((suffix) => existsSync(path + suffix));

/**
 * Gives a file, along with its siblings, another name.
 * @returns false if the file system has no hard links, or a file is not there: then there is nothing
 * @throws errors of a full disk
 */
export function linkNames(from: string, to: string, suffixes: readonly string[]): boolean {
  try {
    for (const suffix of suffixes) linkSync(from + suffix, to + suffix);
    return true;
  } catch (error) {
    if (codeOf(error) === undefined || codeOf(error) === 'ENOSPC') throw error;
    // What is written in the place of a link would be written to the file itself.
    for (const suffix of suffixes) rmSync(to + suffix, { force: true });
    return false;
  }
}
