/** Turns untrusted flags and operator.json into one frozen configuration, with all defaults. */
import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { Failure, codeOf, messageOf } from './errors.js';
import { liesIn } from './publish/files.js';
import type { Lists } from './publish/lists.js';
import type { Bucket } from './routes/index.js';

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

const text = z.string().min(1, 'expected text that is not empty');
const webUrl = z.url({ protocol: /^https?$/, error: 'expected an http or https URL' });
const limit = z
  .strictObject({
    tokens: z.int().min(1).max(1_000_000),
    refill_seconds: z
      .number()
      .min(0.001)
      .max(86_400)
      .multipleOf(0.001, 'expected seconds, in whole milliseconds'),
  })
  .transform(({ tokens, refill_seconds }): Limit => ({ tokens, refillSeconds: refill_seconds }));

const baseUrl = webUrl
  .refine((url) => !/[?#]/.test(url), 'expected a URL without query or fragment')
  // Links, routes and well-known paths all start at the root of the host.
  .refine((url) => /^[^:]+:\/\/[^/]+\/*$/.test(url), 'expected a URL without a path')
  .transform((url) => url.replace(/\/+$/, ''));

const operatorFile = z.strictObject({
  name: text,
  url: webUrl,
  base_url: baseUrl,
  contact: z.url({ protocol: /^(mailto|https)$/, error: 'expected a mailto: or https: URL' }),
  platform: text,
  licence: z.strictObject({ name: text, url: webUrl }),
  tag_authority: z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'expected a domain name in lower case'),
  // 60 requests, refilled 1/s; 12 downloads, refilled 1/min; 240 pages and assets, refilled 4/s.
  limits: z
    .strictObject({
      api: limit.default({ tokens: 60, refillSeconds: 1 }),
      download: limit.default({ tokens: 12, refillSeconds: 60 }),
      page: limit.default({ tokens: 240, refillSeconds: 0.25 }),
    })
    .prefault({}),
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
  const given = parsed(buildFlags, flags, 'option');
  const { limits, base_url, tag_authority, ...operator } = readOperator(given.operator);
  requireApart(given.register, given.out);
  requireOwnFiles(given);
  return Object.freeze({
    register: given.register,
    out: given.out,
    state: given.state,
    operator: { ...operator, baseUrl: given.baseUrl ?? base_url, tagAuthority: tag_authority },
    limits,
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
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw Failure.usage(`operator file "${file}" is not JSON: ${messageOf(error)}`);
  }
  return parsed(operatorFile, value, `operator file "${file}"`);
}

/** The register must lie outside the output folder, or it would be published or replaced. */
function requireApart(register: string, out: string): void {
  const [folder, file] = [realOf(out), realOf(register)];
  if (folder === file) throw Failure.usage(`output folder "${out}" is the register itself`);
  if (liesIn(file, folder)) {
    throw Failure.usage(`register "${register}" lies inside the output folder "${out}", expected it outside`);
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

/** Parses a value, or throws one line with its name, the value and what was expected. */
function parsed<T extends z.ZodType>(schema: T, value: unknown, what: string): z.infer<T> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const { issues } = result.error;
  // A misspelt key is also missing; naming the misspelling helps more.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const place = issue?.path.join('.') ?? '';
  const input = issue?.input === undefined ? '' : `, got ${JSON.stringify(issue.input)}`;
  throw Failure.usage(`${what}${place === '' ? '' : ` ${place}`}: ${issue?.message ?? 'invalid'}${input}`);
}
