/** Turns untrusted flags and operator.json into one frozen configuration, with all defaults. */
import { dirname, isAbsolute, join } from 'node:path';
import * as z from 'zod';
import { accentStyle, brandOf, type Brand } from './brand.js';
import { Failure } from '../base/errors.js';
import { baseUrl, describe, readOperator, text, type Limit, type Operator } from './operator-file.js';
import { liesIn, realPath } from '../base/files.js';
import type { Bucket } from '../routes/route.js';
import { withHistories } from '../schema/measured.js';
import { siteFiles, type SiteFile } from './site-files.js';

export type Limits = Readonly<Record<Bucket, Limit>>;

/** What is published of the operator and of the service. */
export interface SiteConfig {
  readonly operator: Operator;
  readonly limits: Limits;
  /** The operator's own files, and the style sheet with the accent. */
  readonly files: readonly SiteFile[];
  readonly brand: Brand;
}

export const DEFAULTS = {
  register: 'data/register.sqlite',
  out: 'dist',
  operator: 'data/operator.json',
} as const;

const buildFlags = z.object({
  register: text.default(DEFAULTS.register),
  out: text.default(DEFAULTS.out),
  /** The private state of the tree; next to it by default. */
  state: text.optional(),
  operator: text.default(DEFAULTS.operator),
  /** Whether no operator file was named, so that `operator` is the example of one. */
  isExample: z.boolean().default(false),
  baseUrl: baseUrl.optional(),
  skipInvalid: z.boolean().default(false),
  /** Publish even if an implausible share of a kind would be removed. */
  acceptRemovals: z.boolean().default(false),
  /** Publish records again that the last snapshot withheld. */
  acceptRepublished: z.boolean().default(false),
  /** Publish even if an id would mean another record than published. */
  acceptRenumbered: z.boolean().default(false),
  /** Keep the bulk downloads as they were last written, if that is known to be safe. */
  keepDownloads: z.boolean().default(false),
  /** Absolute URLs, one per line. */
  purgeList: text.optional(),
  /** Names below the output folder, one per line, as `--files-from` of rclone and rsync expects. */
  filesFrom: text.optional(),
  /** Names of removed files below the output folder, one per line. */
  deleteFrom: text.optional(),
});
type BuildFlags = Readonly<z.infer<typeof buildFlags>>;

/** Where to write the lists for operators. */
export type Lists = Pick<BuildFlags, 'purgeList' | 'filesFrom' | 'deleteFrom'>;

export interface BuildConfig
  extends SiteConfig, Omit<BuildFlags, 'operator' | 'isExample' | 'baseUrl' | keyof Lists> {
  /** The operator file, if it is an example of one. */
  readonly example: string | undefined;
  /** What doesn't count as measured, even if the register has it (see `MEASURABLE`). */
  readonly notMeasured: readonly string[];
  readonly lists: Lists;
}

/**
 * The configuration of a build.
 * @throws Failure usage: a flag or operator.json is invalid; environment: operator.json is
 * unreadable
 */
export function buildConfig(input: unknown): BuildConfig {
  const flags = readFlags(input);
  const { operator: file, isExample, baseUrl, purgeList, filesFrom, deleteFrom, ...others } = flags;
  const { content, refuse } = readOperator(file);
  const { operator, limits, accent, not_measured } = content;
  const folder = content.files === undefined ? undefined : relativeToOperator(file, content.files);
  requireApart(flags, folder);
  const generated = accent === undefined ? [] : [accentStyle(accent)];
  const given = folder === undefined ? [] : siteFiles(folder, generated);
  const { brand, mistakes } = brandOf(content, given, generated[0]);
  refuse(mistakes);
  return Object.freeze({
    ...others,
    example: isExample ? file : undefined,
    operator: { ...operator, baseUrl: baseUrl ?? operator.baseUrl },
    notMeasured: withHistories(not_measured),
    limits,
    files: [...given, ...generated],
    brand,
    lists: { purgeList, filesFrom, deleteFrom },
  });
}

/** What an operator file says is not measured, for a command that renders nothing. */
export const notMeasuredBy = (operator: string): readonly string[] =>
  withHistories(readOperator(operator).content.not_measured);

/** A path in the operator file is relative to it. */
const relativeToOperator = (operator: string, path: string): string =>
  isAbsolute(path) ? path : join(dirname(operator), path);

/**
 * Inputs and lists must lie outside the folders that are published, and a list must not overwrite
 * another file.
 * @param files the folder of the operator's files
 */
function requireApart(
  { register, operator, out, purgeList, filesFrom, deleteFrom }: BuildFlags,
  files: string | undefined,
): void {
  const lists = [purgeList, filesFrom, deleteFrom].filter((list) => list !== undefined);
  const folder = files === undefined ? [] : [files];
  requireOutside('inside the output folder', out, { register: [register], list: lists, folder });
  const inputs = { register: [register], 'operator file': [operator], 'output folder': [out] };
  if (files !== undefined) requireOutside('in the folder', files, inputs);
  const taken = [register, operator, ...lists].map(realPath);
  const list = lists.find((each) => taken.filter((path) => path === realPath(each)).length > 1);
  if (list !== undefined)
    throw Failure.usage(`list "${list}" would replace an input or another list, expected a file of its own`);
}

/** @param inputs paths, by what they are */
function requireOutside(
  where: string,
  folder: string,
  inputs: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [input, paths] of Object.entries(inputs)) {
    const inside = paths.find((path) => liesIn(realPath(path), realPath(folder)));
    if (inside !== undefined)
      throw Failure.usage(
        `${input} "${inside}" lies ${where} "${folder}", which is published, expected it outside`,
      );
  }
}

function readFlags(flags: unknown): BuildFlags {
  const result = buildFlags.safeParse(flags, { reportInput: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw result.error;
  throw Failure.usage(`--${kebab(describe(issue).join())}`);
}

const kebab = (name: string): string =>
  name.replace(/^\w+/, (word) => word.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
