/** Turns untrusted flags and operator.json into one frozen configuration, with all defaults. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { accentStyle, brandOf } from './brand.js';
import type { Brand, Mistake } from './brand.js';
import { Failure } from '../errors.js';
import { baseUrl, describe, readOperator, text } from './operator-file.js';
import type { OperatorFile } from './operator-file.js';
import { liesIn } from '../files.js';
import type { Bucket } from '../routes/index.js';
import { withHistories } from '../schema/measured.js';
import type { Words } from '../schema/words.js';
import { logKeysOf, signingOf, witnessOf } from './signing.js';
import type { LogKeys, Signing } from './signing.js';
import { siteFiles } from './site-files.js';
import type { SiteFile } from './site-files.js';

/** Where to write the lists for operators. */
export interface Lists {
  /** Absolute URLs, one per line. */
  readonly purgeList?: string;
  /** Names below the output folder, one per line, as `--files-from` of rclone and rsync expects. */
  readonly filesFrom?: string;
  /** Names of removed files below the output folder, one per line. */
  readonly deleteFrom?: string;
}

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
  /** What the front page says first, instead of our words. */
  readonly headline?: string;
  readonly introduction?: string;
  /** What the kinds are called in texts for people. */
  readonly words?: Words;
}

export interface BuildConfig {
  readonly register: string;
  readonly out: string;
  /** The private state of the tree; next to it by default. */
  readonly state: string | undefined;
  readonly operator: Operator;
  /** What doesn't count as measured, even if the register has it (see `MEASURABLE`). */
  readonly notMeasured: readonly string[];
  readonly limits: Limits;
  /** The operator's own files, and the style sheet with the accent. */
  readonly files: readonly SiteFile[];
  readonly brand: Brand;
  readonly skipInvalid: boolean;
  /** Publish even if an implausible share of a kind would be removed. */
  readonly acceptRemovals: boolean;
  /** Keep the bulk downloads as they were last written, if that is known to be safe. */
  readonly keepDownloads: boolean;
  /** Whether the snapshots are listed in a signed log. */
  readonly isSigned: boolean;
  /** What that log is verified with. */
  readonly log: LogKeys | undefined;
  /** With what they are signed here; undefined if that is left to `sign`. */
  readonly signing: Signing | undefined;
  readonly lists: Lists;
}

export const DEFAULTS = {
  register: 'data/register.sqlite',
  out: 'dist',
  operator: 'data/operator.json',
} as const;

const buildFlags = z.object({
  register: text.default(DEFAULTS.register),
  out: text.default(DEFAULTS.out),
  state: text.optional(),
  operator: text.default(DEFAULTS.operator),
  baseUrl: baseUrl.optional(),
  skipInvalid: z.boolean().default(false),
  acceptRemovals: z.boolean().default(false),
  keepDownloads: z.boolean().default(false),
  key: z.array(text).exactOptional(),
  witness: z.array(text).exactOptional(),
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
  const { content, refuse } = readOperator(given.operator);
  const { name, url, contact, platform, licence, base_url, tag_authority } = content;
  const { limits, files, accent, headline, introduction, words } = content;
  requireApart(given.register, given.out);
  requireOwnFiles(given);
  const folder = files === undefined ? undefined : relativeToOperator(given.operator, files);
  if (folder !== undefined) requireNoInput(folder, given);
  const style = accent && accentStyle(accent);
  const generated = style === undefined ? [] : [style];
  const { log, signing } = signedWith(given, content);
  for (const { path } of signing?.keys ?? []) requireSecret(path, given.out, folder);
  const isSigned = log !== undefined;
  const own = folder === undefined ? [] : siteFiles(folder, { files: generated, isSigned });
  const mistakes: Mistake[] = [];
  const brand = brandOf(content, own, style, mistakes);
  refuse(mistakes);
  return Object.freeze({
    register: given.register,
    out: given.out,
    state: given.state,
    operator: {
      name,
      url,
      contact,
      platform,
      licence,
      baseUrl: given.baseUrl ?? base_url,
      tagAuthority: tag_authority,
      ...(headline !== undefined && { headline }),
      ...(introduction !== undefined && { introduction }),
      ...(words !== undefined && { words }),
    },
    notMeasured: withHistories(content.not_measured),
    limits,
    files: [...own, ...generated],
    brand,
    skipInvalid: given.skipInvalid,
    acceptRemovals: given.acceptRemovals,
    keepDownloads: given.keepDownloads,
    isSigned,
    log,
    signing,
    lists: {
      ...(given.purgeList === undefined ? {} : { purgeList: given.purgeList }),
      ...(given.filesFrom === undefined ? {} : { filesFrom: given.filesFrom }),
      ...(given.deleteFrom === undefined ? {} : { deleteFrom: given.deleteFrom }),
    },
  });
}

interface SigningFlags {
  readonly operator: string;
  readonly key?: readonly string[];
  readonly witness?: readonly string[];
}

/** The log of a tree, and with what it is signed. */
export interface Signed {
  readonly log: LogKeys | undefined;
  readonly signing: Signing | undefined;
}

function signedWith(
  { operator, key, witness }: SigningFlags,
  file: Partial<Pick<OperatorFile, 'key' | 'log' | 'witnesses'>>,
): Signed {
  const signing = signingOf(
    key ?? (file.key === undefined ? [] : [relativeToOperator(operator, file.key)]),
    (witness ?? file.witnesses ?? []).map(witnessOf),
  );
  return { log: logKeysOf(file.log, signing), signing };
}

/** What doesn't count as measured, for a command that renders nothing: it needs no operator file. */
export const notMeasuredBy = (operator: string): readonly string[] =>
  existsSync(operator) || operator !== DEFAULTS.operator
    ? withHistories(readOperator(operator).content.not_measured)
    : [];

/** What the kinds are called, for a command that needs no operator file. */
export const wordsBy = (operator: string): Words =>
  existsSync(operator) ? (readOperator(operator).content.words ?? {}) : {};

/** With what a command signs that renders nothing, so that it needs no operator file. */
export const signingFor = (flags: SigningFlags): Signed =>
  signedWith(flags, existsSync(flags.operator) ? readOperator(flags.operator).content : {});

/** The register must lie outside the output folder, or it would be published or replaced. */
function requireApart(register: string, out: string): void {
  const [folder, file] = [realOf(out), realOf(register)];
  if (folder === file) throw Failure.usage(`output folder "${out}" is the register itself`);
  if (liesIn(file, folder)) {
    throw Failure.usage(`register "${register}" lies inside the output folder "${out}", expected it outside`);
  }
}

/** A key must lie where nothing is published. */
function requireSecret(key: string, ...published: readonly (string | undefined)[]): void {
  const folder = published.find((each) => each !== undefined && liesIn(realOf(key), realOf(each)));
  if (folder !== undefined)
    throw Failure.usage(
      `key "${key}" lies in the folder "${folder}", which is published, expected it outside`,
    );
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
