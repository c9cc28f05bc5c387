/** Aliases: second names of documents, which are hard links where the file system has them. */
import { linkSync, rmSync } from 'node:fs';
import { codeOf } from '../base/errors.js';
import { halves } from '../routes/route.js';
import type { AliasPlace } from './lists.js';

/** The file of an alias by its text, and the URL path by its file. */
export function aliasNames({ path, file }: AliasPlace) {
  const [start, end] = halves(file);
  const [before, after] = halves(path);
  return {
    fileOf: (text: string): string => start + text + end,
    urlOf: (name: string): string => before + name.slice(start.length, name.length - end.length) + after,
  };
}

/**
 * Gives a file, along with its siblings, another name.
 * @returns false if the file system has no hard links, or a file is missing: then none has another name
 * @throws errors of a full disk
 */
export function linkNames(from: string, to: string, suffixes: readonly string[]): boolean {
  try {
    for (const suffix of suffixes) linkSync(from + suffix, to + suffix);
    return true;
  } catch (error) {
    if (codeOf(error) === undefined || codeOf(error) === 'ENOSPC') throw error;
    // Who writes to one of the links would write to the published file.
    for (const suffix of suffixes) rmSync(to + suffix, { force: true });
    return false;
  }
}
