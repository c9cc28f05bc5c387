/** Turns untrusted flags and operator.json into one frozen configuration, with all defaults. */
import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { closest } from './closest.js';
import { Failure, codeOf, messageOf } from './errors.js';
import { placesIn } from './json-places.js';
import type { Place } from './json-places.js';
import { liesIn } from './publish/files.js';
import type { Lists } from './publish/lists.js';
import type { Bucket } from './routes/index.js';
import { siteFiles } from './site-files.js';
import type { SiteFile } from './site-files.js';

/** A token bucket: its capacity, and the seconds after which one token is refilled. */
export interface Limit {
  readonly tokens: number;
  readonly refillSeconds: number;
}

export type Limits = Readonly<Record<Bucket, Limit>>;

/** Who runs the register, and under which terms. */
export interface Operator {
  readonly name: string;
  readonly url: string;
  /** The URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  /** A mailto: or https: URL. */
  readonly contact: string;
  /** The platform that is measured. */
  readonly platform: string;
  readonly licence: { readonly name: string; readonly url: string };
  /** The domain under which feed entry ids are minted (RFC 4151). */
  readonly tagAuthority: string;
}

export interface BuildConfig {
  readonly register: string;
  readonly out: string;
  /** The private state of the tree; next to it by default. */
  readonly state: string | undefined;
  readonly operator: Operator;
  readonly limits: Limits;
  /** The operator's own files. */
  readonly files: readonly SiteFile[];
  readonly skipInvalid: boolean;
  /** Publish even if an implausible share of a kind would be removed. */
  readonly acceptRemovals: boolean;
  /** Keep the bulk downloads as they were last written, if that is known to be safe. */
  readonly keepDownloads: boolean;
  readonly lists: Lists;
}

export const DEFAULTS = {
  register: 'data/register.sqlite',
  out: 'dist',
  operator: 'data/operator.json',
} as const;

const TEXT = 'expected text that is not empty';
const text = z.string(TEXT).min(1, TEXT);
const url = (protocol: RegExp, error: string) => z.url({ protocol, error });
const webUrl = url(/^https?$/, 'expected an http or https URL');

/** An object with no other keys than these. */
const object = <T extends z.core.$ZodShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => unknownKey(key, Object.keys(shape))).join('\n')
        : 'expected an object',
  });

function unknownKey(key: string, known: readonly string[]): string {
  const meant = closest(key, known);
  return `unknown key ${JSON.stringify(key)}${meant === undefined ? '' : ` (did you mean "${meant}"?)`}`;
}

const TOKENS = 'expected a whole number from 1 to 1,000,000';
const SECONDS = 'expected seconds from 0.001 to 86,400, with at most three decimals';
const limit = object({
  tokens: z.int(TOKENS).min(1, TOKENS).max(1_000_000, TOKENS),
  refill_seconds: z
    .number(SECONDS)
    .min(0.001, { error: SECONDS, abort: true })
    .max(86_400, SECONDS)
    .multipleOf(0.001, SECONDS),
}).transform(({ tokens, refill_seconds }): Limit => ({ tokens, refillSeconds: refill_seconds }));

const baseUrl = webUrl
  .refine((url) => !/[?#]/.test(url), { error: 'expected a URL without query or fragment', abort: true })
  .refine(
    (url) => /^[^:]+:\/\/[^/]+\/*$/.test(url),
    'expected a URL without a path, since pages and API lie at the root of their host',
  )
  .transform((url) => url.replace(/\/+$/, ''));

const DOMAIN = 'expected a domain name in lower case';

const operatorFile = object({
  name: text,
  url: webUrl,
  base_url: baseUrl,
  contact: url(/^(mailto|https)$/, 'expected a mailto: or https: URL'),
  platform: text,
  licence: object({ name: text, url: webUrl }),
  tag_authority: z.string(DOMAIN).regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, DOMAIN),
  // 60 requests, refilled 1/s; 12 downloads, refilled 1/min; 240 pages and assets, refilled 4/s.
  limits: object({
    api: limit.default({ tokens: 60, refillSeconds: 1 }),
    download: limit.default({ tokens: 12, refillSeconds: 60 }),
    page: limit.default({ tokens: 240, refillSeconds: 0.25 }),
  }).prefault({}),
  /** A folder of files to publish, relative to the operator file. */
  files: text.exactOptional(),
});

const buildFlags = z.object({
  register: text.default(DEFAULTS.register),
  out: text.default(DEFAULTS.out),
  state: text.optional(),
  operator: text.default(DEFAULTS.operator),
  baseUrl: baseUrl.optional(),
  skipInvalid: z.boolean().default(false),
  acceptRemovals: z.boolean().default(false),
  keepDownloads: z.boolean().default(false),
  purgeList: text.exactOptional(),
  filesFrom: text.exactOptional(),
  deleteFrom: text.exactOptional(),
});

/**
 * The configuration of a build.
 * @throws Failure usage: a flag or operator.json is invalid; environment: operator.json is
 * unreadable
 */
export function buildConfig(flags: unknown): BuildConfig {
  const given = readFlags(flags);
  const { limits, files, base_url, tag_authority, ...operator } = readOperator(given.operator);
  requireApart(given.register, given.out);
  requireOwnFiles(given);
  const folder = files === undefined ? undefined : relativeToOperator(given.operator, files);
  if (folder !== undefined) requireNoInput(folder, given);
  return Object.freeze({
    register: given.register,
    out: given.out,
    state: given.state,
    operator: { ...operator, baseUrl: given.baseUrl ?? base_url, tagAuthority: tag_authority },
    limits,
    files: folder === undefined ? [] : siteFiles(folder),
    skipInvalid: given.skipInvalid,
    acceptRemovals: given.acceptRemovals,
    keepDownloads: given.keepDownloads,
    lists: {
      ...(given.purgeList === undefined ? {} : { purgeList: given.purgeList }),
      ...(given.filesFrom === undefined ? {} : { filesFrom: given.filesFrom }),
      ...(given.deleteFrom === undefined ? {} : { deleteFrom: given.deleteFrom }),
    },
  });
}

function readOperator(file: string): z.infer<typeof operatorFile> {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'does not exist' : `can't be read: ${messageOf(error)}`;
    throw Failure.environment(`operator file "${file}" ${why}`);
  }
  const json = content.replace(/^\uFEFF/, '');
  const places = placesIn(json);
  if (places.error !== undefined) {
    const { expected, line, column } = places.error;
    throw Failure.usage(
      `operator file "${file}" is not JSON: expected ${expected} at line ${line}, column ${column}`,
    );
  }
  const result = operatorFile.safeParse(JSON.parse(json), { reportInput: true });
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [key]) : [[]];
    return describe(issue).map((message, index) => ({
      place: places.of([...issue.path, ...(keys[index] ?? [])]),
      message,
    }));
  });
  throw unusable(file, problems);
}

interface Problem {
  readonly place: Place;
  readonly message: string;
}

/** All problems of the operator file, in the order of the file. */
function unusable(file: string, problems: readonly Problem[]): Failure {
  const lines = problems
    .toSorted((a, b) => a.place.line - b.place.line || a.place.column - b.place.column)
    .map(({ place: { line, column }, message }) => `line ${line}, column ${column}: ${message}`);
  const name = `operator file "${file}"`;
  return Failure.usage(
    lines.length === 1
      ? `${name}, ${lines.join()}`
      : `${name} has ${lines.length} problems\n${lines.map((line) => `  ${line}`).join('\n')}`,
  );
}

/** The register must lie outside the output folder, or it would be published or replaced. */
function requireApart(register: string, out: string): void {
  const [folder, file] = [realOf(out), realOf(register)];
  if (folder === file) throw Failure.usage(`output folder "${out}" is the register itself`);
  if (liesIn(file, folder)) {
    throw Failure.usage(`register "${register}" lies inside the output folder "${out}", expected it outside`);
  }
}

/** A path in the operator file is relative to it. */
const relativeToOperator = (operator: string, path: string): string =>
  isAbsolute(path) ? path : join(dirname(operator), path);

/** A folder whose files are published must hold no input, and must not lie in the tree. */
function requireNoInput(folder: string, { register, operator, out }: z.infer<typeof buildFlags>): void {
  const real = realOf(folder);
  const foreign = [
    ['register', register],
    ['operator file', operator],
    ['output folder', out],
  ].find(([, path = '']) => liesIn(realOf(path), real));
  if (foreign !== undefined) {
    throw Failure.usage(
      `${foreign[0]} "${foreign[1]}" lies in the folder "${folder}", whose files would be published (files of the operator file)`,
    );
  }
  if (liesIn(real, realOf(out))) {
    throw Failure.usage(
      `folder "${folder}" (files of the operator file) lies inside the output folder "${out}", expected it outside`,
    );
  }
}

/** Lists are overwritten, so they must not be inputs, lie in the tree or coincide. */
function requireOwnFiles({
  register,
  operator,
  out,
  purgeList,
  filesFrom,
  deleteFrom,
}: z.infer<typeof buildFlags>): void {
  const taken = new Set([register, operator].map(realOf));
  const lists = [purgeList, filesFrom, deleteFrom].filter((list) => list !== undefined);
  for (const list of lists) {
    const real = realOf(list);
    if (taken.has(real) || real.startsWith(realOf(out) + sep)) {
      const isTwice = lists.filter((other) => realOf(other) === real).length > 1;
      throw Failure.usage(
        isTwice
          ? `"${list}" is given for more than one list, expected a file for each`
          : `list "${list}" would replace an input or lie in the tree, expected a file of its own`,
      );
    }
    taken.add(real);
  }
}

/** The real path of a file that may not exist yet. */
function realOf(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync(full);
  } catch {
    const parent = dirname(full);
    return parent === full ? full : join(realOf(parent), basename(full));
  }
}

function readFlags(flags: unknown): z.infer<typeof buildFlags> {
  const result = buildFlags.safeParse(flags, { reportInput: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw result.error;
  throw Failure.usage(`--${kebab(describe(issue).join())}`);
}

const kebab = (name: string): string =>
  name.replace(/^\w+/, (word) => word.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));

/** What is wrong, in a line for each problem: the key, what was expected, and what was found. */
function describe({ path, message, input, code }: z.core.$ZodIssue): readonly string[] {
  const key = path.join('.');
  const prefix = key === '' ? '' : `${key}: `;
  if (code === 'unrecognized_keys') return message.split('\n').map((line) => prefix + line);
  if (input === undefined) return [`${key} is missing, ${message}`];
  // An object or a list could be the whole file.
  const found = typeof input === 'object' && input !== null ? '' : `, got ${JSON.stringify(input)}`;
  return [prefix + message + found];
}
