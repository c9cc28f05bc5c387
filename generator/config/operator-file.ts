/** Reads operator.json: what its keys may be, and where in the file its mistakes are. */
import * as z from 'zod';
import { accentColour } from './accent.js';
import { closest } from '../base/closest.js';
import { Failure } from '../base/errors.js';
import type { Kind } from '../schema/field.js';
import { MEASURABLE } from '../schema/measured.js';
import { placesIn, type Position } from './json-places.js';
import { readInput } from '../base/utf8.js';

/** A key of operator.json, and what is wrong with its value. */
export interface Mistake {
  readonly key: string;
  readonly message: string;
}

/** A token bucket: its capacity, and the seconds after which one token is refilled. */
export interface Limit {
  readonly tokens: number;
  readonly refillSeconds: number;
}

const TEXT = 'expected text that is not empty';
export const text = z
  .string(TEXT)
  .min(1, TEXT)
  .refine((value) => !value.includes('\0'), 'expected text without U+0000');
/**
 * A URL as `new URL()` spells it, so that it is ASCII and the same everywhere in a tree; but without the
 * slash that URL adds to a host without a path.
 */
const spelled = (url: string): string => {
  const { href } = new URL(url);
  return url.trim().endsWith('/') ? href : href.replace(/\/$/, '');
};
const anyUrl = (protocol: RegExp, error: string) => z.url({ protocol, error });
const url = (protocol: RegExp, error: string) => anyUrl(protocol, error).transform(spelled);
const WEB = /^https?$/;
const WEB_URL = 'expected an http or https URL';
const webUrl = url(WEB, WEB_URL);

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

/** The URL of a service, of which a trailing slash is left out. */
export const baseUrl = anyUrl(WEB, WEB_URL)
  .refine((url) => !/[?#]/.test(url), { error: 'expected a URL without query or fragment', abort: true })
  .refine((url) => !/^[^:]+:\/\/[^/]*@/.test(url), {
    error: 'expected a URL without user name and password: it is published',
    abort: true,
  })
  .refine(
    (url) => /^[^:]+:\/\/[^/]+\/*$/.test(url),
    'expected a URL without a path, since pages and API lie at the root of their host',
  )
  .transform((url) => new URL(url).origin);

const DOMAIN = 'expected a domain name in lower case';

const PATH = 'expected the path of a file of your own, such as "/logo.svg"';
const path = z.string(PATH).regex(/^\/[^/]/, PATH);
const LINK = 'expected an https URL, or the path of a file of your own';
const isPath = (value: string): boolean => path.safeParse(value).success;
const link = z
  .string(LINK)
  .refine((value) => isPath(value) || z.url({ protocol: /^https$/ }).safeParse(value).success, {
    error: LINK,
    abort: true,
  })
  .transform((value) => (isPath(value) ? value : spelled(value)));

const MEASURED =
  'expected a table or column that a register may lack, such as "items", "group_names" or "groups.description"';
const measurable = z.string(MEASURED).refine((name) => MEASURABLE.includes(name), {
  error: ({ input }) => {
    const meant = closest(String(input), MEASURABLE);
    return meant === undefined ? MEASURED : `${MEASURED} (did you mean "${meant}"?)`;
  },
});

const WORD = 'expected text of 1 to 40 characters without spaces around it';
const word = z
  .string(WORD)
  .max(40, WORD)
  .refine((value) => value !== '' && value.trim() === value, WORD);
const names = object({ one: word, many: word });

const CONTACT = 'expected a mailto: URL with an address, or an https: URL';

/**
 * The address in a mailto: URL, without the subject and body that it may have (RFC 6068); undefined for any other.
 * @throws URIError an escape in it is not UTF-8
 */
export function emailIn(contact: string): string | undefined {
  const { protocol, pathname } = new URL(contact);
  return protocol === 'mailto:' ? decodeURIComponent(pathname) : undefined;
}

const isContact = (contact: string): boolean => {
  try {
    return emailIn(contact) !== '';
  } catch {
    return false;
  }
};

const operatorFile = object({
  name: text,
  url: webUrl,
  /** Without a trailing slash. */
  base_url: baseUrl,
  contact: url(/^(mailto|https)$/, CONTACT).refine(isContact, CONTACT),
  /** The platform that is measured. */
  platform: text,
  licence: object({ name: text, url: webUrl }),
  /** The domain under which feed entry ids are minted (RFC 4151). */
  tag_authority: z.string(DOMAIN).regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, DOMAIN),
  // 60 requests, refilled 1/s; 12 downloads, refilled 1/min; 240 pages and assets, refilled 4/s.
  limits: object({
    api: limit.default({ tokens: 60, refillSeconds: 1 }),
    download: limit.default({ tokens: 12, refillSeconds: 60 }),
    page: limit.default({ tokens: 240, refillSeconds: 0.25 }),
  }).prefault({}),
  /** A folder of files to publish, relative to the operator file. */
  files: text.exactOptional(),
  accent: object({ light: accentColour('light'), dark: accentColour('dark') }).exactOptional(),
  /** Paths of files in that folder; the last two may also be https URLs. */
  logo: path.exactOptional(),
  imprint: link.exactOptional(),
  privacy: link.exactOptional(),
  /** The first texts of the front page, instead of those of this program. */
  headline: text.exactOptional(),
  introduction: text.exactOptional(),
  /** Where the source of this program is, as it runs here. */
  source_url: webUrl.exactOptional(),
  /** What the kinds are called on pages and in feeds. */
  words: object({
    group: names.exactOptional(),
    user: names.exactOptional(),
    game: names.exactOptional(),
    item: names.exactOptional(),
  } satisfies Record<Kind, z.ZodType>).exactOptional(),
  /** What prices are counted in: `US cents`. */
  price_unit: word.exactOptional(),
  /** What doesn't count as measured, even if the register has it. */
  not_measured: z.array(measurable).default([]),
}).transform(
  ({
    limits,
    files,
    accent,
    logo,
    imprint,
    privacy,
    not_measured,
    base_url: baseUrl,
    tag_authority: tagAuthority,
    source_url: sourceUrl,
    price_unit: priceUnit,
    ...texts
  }) => {
    const units = priceUnit === undefined ? {} : { priceUnit };
    const operator = { ...texts, baseUrl, tagAuthority, sourceUrl, ...units };
    return { operator, limits, files, accent, logo, imprint, privacy, not_measured };
  },
);

export type OperatorFile = z.infer<typeof operatorFile>;
/** Who runs the register, and under which terms. */
export type Operator = OperatorFile['operator'];

/**
 * Reads and checks the file.
 * @returns its content, and a function that refuses what only other files show to be mistakes
 * @throws Failure usage: it is invalid (all mistakes are named), or not UTF-8; environment: it is
 * unreadable
 */
export function readOperator(file: string): {
  readonly content: OperatorFile;
  readonly refuse: (mistakes: readonly Mistake[]) => void;
} {
  const json = readInput(`operator file "${file}"`, file, ' (--operator)');
  const places = placesIn(json);
  if (places.error !== undefined) {
    const { expected, line, column } = places.error;
    throw Failure.usage(
      `operator file "${file}" is not JSON: expected ${expected} at line ${line}, column ${column}`,
    );
  }
  const unusable = (problems: readonly Problem[]): Failure =>
    refusal(
      file,
      problems.map(({ path, message }) => ({ ...places.positionOf(path), message })),
    );
  const result = operatorFile.safeParse(JSON.parse(json), { reportInput: true });
  if (!result.success) throw unusable(result.error.issues.flatMap(problemsOf));
  return {
    content: result.data,
    refuse: (mistakes) => {
      if (mistakes.length === 0) return;
      throw unusable(mistakes.map(({ key, message }) => ({ path: [key], message: `${key}: ${message}` })));
    },
  };
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The problems of an issue: one for each key that is unknown. */
function problemsOf(issue: z.core.$ZodIssue): readonly Problem[] {
  const keys = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [key]) : [];
  return describe(issue).map((message, index) => ({
    path: [...issue.path, ...(keys[index] ?? [])],
    message,
  }));
}

/** All problems of the operator file, in the order of the file. */
function refusal(file: string, problems: readonly (Position & { readonly message: string })[]): Failure {
  const lines = problems
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`);
  const name = `operator file "${file}"`;
  return Failure.usage(
    lines.length === 1
      ? `${name}, ${lines.join()}`
      : `${name} has ${lines.length} problems\n${lines.map((line) => `  ${line}`).join('\n')}`,
  );
}

/** What is wrong, in a line for each problem: the key, what was expected, and what was found. */
export function describe({ path, message, input, code }: z.core.$ZodIssue): readonly string[] {
  const key = path.join('.');
  const prefix = key === '' ? '' : `${key}: `;
  if (code === 'unrecognized_keys') return message.split('\n').map((line) => prefix + line);
  if (input === undefined) return [`${key} is missing, ${message}`];
  // An object or a list could be the whole file.
  const found = typeof input === 'object' && input !== null ? '' : `, got ${JSON.stringify(input)}`;
  return [prefix + message + found];
}
