/** Asks witnesses to cosign a checkpoint (C2SP tlog-witness), so that nobody can be shown another log. */
import { codeOf, messageOf } from '../errors.js';
import type { Witness } from '../config/signing.js';
import { parseVerifier } from '../keys.js';
import { openNote } from './note.js';
import { checkpointIn, parseCheckpoint } from './text.js';

/** A witness has so long to respond, to all requests together: 10,000 ms (= 10 seconds). */
const WITNESS_MS = 10_000;
/** More than any response has, which is a few lines: 64 KiB. */
const RESPONSE_BYTES = 64 * 1024;
/** How much of an unexpected response is quoted. */
const QUOTED_CHARACTERS = 100;

/** The line that a witness adds to a note, with its end. Or why it adds nothing. */
export type Cosigned = { readonly line: string } | { readonly reason: string };

/** The lines of a proof that a log of this size begins with that of another, in base64. */
export type ConsistencyFrom = (old: number) => readonly string[];

export interface CosignOptions {
  /** The size of the last checkpoint that the witness is known to have cosigned; 0 by default. */
  readonly knownSize?: number;
  readonly timeoutMs?: number;
  /** Ends the wait for a response; its reason is why there is no cosignature. */
  readonly signal?: AbortSignal;
}

/**
 * Asks one witness. Whatever it does is no error: the checkpoint is valid without it.
 * @param note a signed checkpoint
 */
export async function cosign(
  note: string,
  { url, key }: Witness,
  consistencyFrom: ConsistencyFrom,
  { knownSize = 0, timeoutMs = WITNESS_MS, signal: stop }: CosignOptions = {},
): Promise<Cosigned> {
  try {
    const verifier = parseVerifier(key);
    if (verifier.type !== 'cosignature') return { reason: `its key "${key}" is not one of cosignatures` };
    const { size } = checkpointIn(note);
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
    const ask = (old: number): Promise<Response> => {
      const proof = consistencyFrom(old).map((line) => `${line}\n`);
      const body = `old ${old}\n${proof.join('')}\n${note}`;
      return send(`${url.replace(/\/$/, '')}/add-checkpoint`, body, signal);
    };
    const old = Math.min(knownSize, size);
    const first = await ask(old);
    const has = sizeIn(first);
    const isBehind = has !== undefined && has !== old && has <= size;
    const { status, text } = isBehind ? await ask(has) : first;
    if (status === 200) {
      const checkpoint = note.slice(0, note.lastIndexOf('\n\n') + 2);
      // One line, whatever else there is, so that a note has no more than readers accept.
      return { line: `${openNote(checkpoint + text, [verifier]).lines[0] ?? ''}\n` };
    }
    if (has !== undefined && status === 409) return { reason: conflictOf(size, has) };
    return { reason: `its response is ${status}, expected 200${quoted(text)}` };
  } catch (error) {
    return { reason: reasonOf(error, timeoutMs) };
  }
}

interface Response {
  readonly status: number;
  readonly text: string;
}

/** Sends a request. Redirects are not followed. @throws whatever the network does */
async function send(url: string, body: string, signal: AbortSignal): Promise<Response> {
  const { origin, pathname, search } = new URL(url);
  const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
  const { connections } = await import('../network.js');
  const connection = connections(WITNESS_MS);
  try {
    const path = pathname + search;
    const sent = { origin, path, method: 'POST', headers, body, signal } as const;
    const response = await connection.request(sent);
    const content: AsyncIterable<Uint8Array> = response.body;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes > RESPONSE_BYTES) throw new RangeError(`its response has more than ${RESPONSE_BYTES} bytes`);
      chunks.push(chunk);
    }
    return { status: response.statusCode, text: Buffer.concat(chunks).toString() };
  } finally {
    await connection.destroy();
  }
}

/** The size that the witness has, if that is another than the one in the request. */
function sizeIn({ status, text }: Response): number | undefined {
  const [, digits] = (status === 409 && /^(0|[1-9]\d{0,15})\n$/.exec(text)) || [];
  return digits === undefined ? undefined : Number(digits);
}

const conflictOf = (size: number, has: number): string =>
  has > size
    ? `it has cosigned a log of ${has} entries, and this one has ${size}`
    : `it has cosigned another log of ${has} entries, or its size changes with each request`;

/** The beginning of a text, made printable. */
function quoted(text: string): string {
  const start = text.trim().slice(0, QUOTED_CHARACTERS);
  return start === '' ? '' : `: ${JSON.stringify(start)}`;
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `it has not responded within ${timeoutMs / 1000} s`;
  return messageOf(error) || (codeOf(error) ?? 'unknown');
}

/**
 * Asks witnesses, all at once.
 * @param previous the checkpoint before, whose cosignatures say what the witnesses have seen
 * @returns the note with the cosignatures, and the witnesses that did not cosign it
 */
export async function cosignAll(
  note: string,
  witnesses: readonly Witness[],
  consistencyFrom: ConsistencyFrom,
  { previous, ...options }: CosignOptions & { readonly previous?: string | undefined } = {},
) {
  const all = await Promise.all(
    witnesses.map(async (witness) => {
      const knownSize = previous === undefined ? 0 : sizeCosignedBy(previous, witness);
      return {
        url: witness.url,
        ...(await cosign(note, witness, consistencyFrom, { knownSize, ...options })),
      };
    }),
  );
  const lines = all.flatMap((each) => ('line' in each ? [each.line] : []));
  const missing = all.flatMap((each) => ('reason' in each ? [{ url: each.url, reason: each.reason }] : []));
  return { note: note + lines.join(''), missing };
}

/** The size of a checkpoint if a witness has cosigned it, otherwise 0. */
export function sizeCosignedBy(note: string, { key }: Witness): number {
  try {
    return parseCheckpoint(openNote(note, [parseVerifier(key)]).text).size;
  } catch {
    return 0;
  }
}
