/** The keys that sign a tree's snapshots, and the witnesses that cosign them. */
import { z } from 'zod';
import { Failure, messageOf } from '../errors.js';
import { parseVerifier, readKey } from '../keys.js';
import type { KeyFile } from '../keys.js';

/** What a signed log is verified with. */
export interface LogKeys {
  /** The name of the keys, which is the origin of the log. */
  readonly origin: string;
  readonly verifierKeys: readonly string[];
}

/** A witness, which is asked to cosign each checkpoint (C2SP tlog-witness). */
export interface Witness {
  /** The submission prefix. */
  readonly url: string;
  /** The key of its cosignatures: a vkey of type 4. */
  readonly key: string;
}

/** With what snapshots are signed. */
export interface Signing extends LogKeys {
  readonly keys: readonly KeyFile[];
  readonly witnesses: readonly Witness[];
}

/**
 * @param paths of the keys
 * @throws Failure usage: a file is no key, or keys have different names; environment: one is
 * unreadable
 */
export function signingOf(paths: readonly string[], witnesses: readonly Witness[]): Signing | undefined {
  const keys = paths.map(readKey);
  const [first, ...others] = keys;
  if (first === undefined) {
    if (witnesses.length === 0) return undefined;
    throw Failure.usage('a witness cosigns what a key has signed: expected a key as well (--key)');
  }
  const { name: origin } = first.signer;
  const verifierKeys = keys.map(({ signer }) => signer.vkey);
  for (const { path, signer } of others) {
    if (signer.name !== origin)
      throw Failure.usage(`key "${path}" is named "${signer.name}", expected "${origin}" as "${first.path}"`);
  }
  if (new Set(verifierKeys).size < keys.length) throw Failure.usage('a key is given twice');
  return { origin, keys, verifierKeys, witnesses };
}

/**
 * The log that an operator declares, or that keys imply.
 * @param declared verifier keys
 * @throws Failure usage: one is none, they have different names, or a key is not among them
 */
export function logKeysOf(
  declared: readonly string[] | undefined,
  signing: Signing | undefined,
): LogKeys | undefined {
  if (declared === undefined) return signing;
  const names = declared.map((key, index) => {
    try {
      const { name, type } = parseVerifier(key);
      if (type !== 'cosignature') return name;
    } catch (error) {
      throw Failure.usage(`log.${index} of the operator file: ${messageOf(error)}`);
    }
    throw Failure.usage(`log.${index} of the operator file is the key of a witness, expected that of a log`);
  });
  const [origin = ''] = names;
  const other = names.find((name) => name !== origin);
  if (other !== undefined)
    throw Failure.usage(
      `log of the operator file has keys named "${origin}" and "${other}", expected one name`,
    );
  const foreign = signing?.verifierKeys.find((key) => !declared.includes(key));
  if (foreign !== undefined)
    throw Failure.usage(`the key ${foreign} is not among those of "log" in the operator file`);
  return { origin, verifierKeys: declared };
}

/** `https://witness.example witness.example+7f…`: the URL of a witness, and its verifier key. */
export function witnessOf(text: string): Witness {
  const refused = (problem = ''): Failure =>
    Failure.usage(
      `witness ${JSON.stringify(text)}: expected a URL, a space and the verifier key of the witness${problem}`,
    );
  const [url = '', key = '', ...more] = text.trim().split(/\s+/);
  if (more.length > 0 || !z.url({ protocol: /^https?$/ }).safeParse(url).success) throw refused();
  try {
    if (parseVerifier(key).type === 'cosignature') return { url, key };
  } catch (error) {
    throw refused(` (${messageOf(error)})`);
  }
  throw refused(' (that is the key of a log)');
}
