/** The keys that sign a tree's snapshots. */
import { Failure, messageOf } from '../base/errors.js';
import { parseVerifier, readKey, type KeyFile } from '../base/keys.js';

/** What a signed log is verified with. */
export interface LogKeys {
  /** The name of the keys, which is the origin of the log. */
  readonly origin: string;
  readonly verifierKeys: readonly string[];
}

/** With what snapshots are signed. */
export interface Signing extends LogKeys {
  readonly keys: readonly KeyFile[];
}

/**
 * @param paths of the keys
 * @throws Failure usage: a file is no key, or keys have different names; environment: one is
 * unreadable
 */
export function signingOf(paths: readonly string[]): Signing | undefined {
  const keys = paths.map(readKey);
  const [first, ...others] = keys;
  if (first === undefined) return undefined;
  const { name: origin } = first.signer;
  const verifierKeys = keys.map(({ signer }) => signer.vkey);
  for (const { path, signer } of others) {
    if (signer.name !== origin)
      throw Failure.usage(`key "${path}" is named "${signer.name}", expected "${origin}" as "${first.path}"`);
  }
  if (new Set(verifierKeys).size < keys.length) throw Failure.usage('a key is given twice');
  return { origin, keys, verifierKeys };
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
      return parseVerifier(key).name;
    } catch (error) {
      throw Failure.usage(`log.${index} of the operator file: ${messageOf(error)}`);
    }
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
