/**
 * A witness after C2SP tlog-witness and tlog-cosignature, which shares no code with the generator.
 * It keeps the last size and root of each log, verifies signatures and consistency, and cosigns.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { ended, listening } from '../../support/ports.js';
import { isSignedBy, newKey, nodeOf, rootOf, splitOf } from './naive.js';
import type { PublicKey } from './naive.js';

/** The proof of RFC 6962, section 2.1.2, by its definition. */
export function consistency(entries: readonly string[], old: number): readonly string[] {
  const subproof = (from: number, to: number, all: readonly string[], isWhole: boolean): Buffer[] => {
    if (from === to) return isWhole ? [] : [rootOf(all)];
    const split = splitOf(to);
    return from <= split
      ? [...subproof(from, split, all.slice(0, split), isWhole), rootOf(all.slice(split))]
      : [...subproof(from - split, to - split, all.slice(split), false), rootOf(all.slice(0, split))];
  };
  const hashes = old === 0 ? [] : subproof(old, entries.length, entries, true);
  return hashes.map((hash) => hash.toString('base64'));
}

/** Both roots that a proof leads to, by the same recursion; undefined if it is too short or long. */
function rootsBy(
  proof: readonly Buffer[],
  [old, size]: readonly [number, number],
  oldRoot: Buffer,
): readonly [Buffer, Buffer] | undefined {
  const rest = [...proof];
  let isShort = false;
  const next = (): Buffer => {
    const hash = rest.shift();
    isShort ||= hash === undefined;
    return hash ?? oldRoot;
  };
  const roots = (from: number, to: number, isWhole: boolean): readonly [Buffer, Buffer] => {
    if (from === to) {
      const root = isWhole ? oldRoot : next();
      return [root, root];
    }
    const split = splitOf(to);
    if (from <= split) {
      const [before, left] = roots(from, split, isWhole);
      return [before, nodeOf(left, next())];
    }
    const [before, right] = roots(from - split, to - split, false);
    const left = next();
    return [nodeOf(left, before), nodeOf(left, right)];
  };
  const both = roots(old, size, true);
  return isShort || rest.length > 0 ? undefined : both;
}

/** Whether a proof shows that the log of a size begins with all entries of the old one. */
export function isConsistent(
  old: number,
  size: number,
  proof: readonly Buffer[],
  oldRoot: Buffer,
  root: Uint8Array,
): boolean {
  if (![old, size].every((each) => Number.isSafeInteger(each) && each >= 0) || old > size) return false;
  // Every log begins with an empty one.
  if (old === 0)
    return proof.length === 0 && oldRoot.equals(rootOf([])) && (size > 0 || oldRoot.equals(root));
  if (proof.some(({ length }) => length !== 32)) return false;
  const roots = rootsBy(proof, [old, size], oldRoot);
  return roots?.[0].equals(oldRoot) === true && roots[1].equals(root);
}

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

export class Witness {
  readonly key = newKey('witness.example/w1', 4);
  /** The old sizes that it was asked with, and its statuses. */
  readonly asked: (readonly [old: number, status: number])[] = [];
  /** What it has cosigned, by origin. */
  readonly seen = new Map<string, { readonly size: number; readonly root: Buffer }>();
  time = 1_800_000_000;
  /** Takes over a request. */
  instead: ((request: IncomingMessage, response: ServerResponse, body: string) => boolean) | undefined;
  readonly #logs: readonly PublicKey[];
  readonly #server: Server;
  url = '';

  /** @param logs the keys of the logs that it knows */
  constructor(...logs: readonly PublicKey[]) {
    this.#logs = logs;
    this.#server = createServer((request, response) => this.#respond(request, response));
  }

  async start(): Promise<this> {
    this.url = `http://127.0.0.1:${await listening(this.#server)}/prefix`;
    return this;
  }

  stop = (): Promise<void> => ended(this.#server);

  #respond(request: IncomingMessage, response: ServerResponse): void {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      if (this.instead?.(request, response, text) === true) return;
      const isCall = request.method === 'POST' && request.url === '/prefix/add-checkpoint';
      const { status, body, type = 'text/plain' } = isCall ? this.reply(text) : { status: 404, body: '' };
      response.writeHead(status, { 'content-type': type }).end(body);
    });
  }

  reply(text: string): Reply {
    const reply = this.#decide(text);
    this.asked.push([Number(/^old (\d+)\n/.exec(text)?.[1]), reply.status]);
    return reply;
  }

  #decide(text: string): Reply {
    const [, head = '', body = '', signatures = ''] = /^(.*?\n)\n(.*?\n)\n(.*)$/s.exec(text) ?? [];
    const [first = '', ...proof] = head.split('\n').slice(0, -1);
    const [, old = 'x'] = /^old (0|[1-9]\d*)$/.exec(first) ?? [];
    const [origin = '', size = 'x', root = ''] = body.split('\n');
    if (!/^\d+$/.test(old) || !/^\d+$/.test(size) || proof.length > 63) return { status: 400, body: 'form' };
    const keys = this.#logs.filter(({ name }) => name === origin);
    if (keys.length === 0) return { status: 404, body: 'unknown origin' };
    if (!keys.some((key) => isSignedBy(key, body, signatures))) return { status: 403, body: 'not signed' };
    const [from, to] = [Number(old), Number(size)];
    if (from > to) return { status: 400, body: 'old is larger' };
    const last = this.seen.get(origin) ?? { size: 0, root: rootOf([]) };
    const conflict = { status: 409, body: `${last.size}\n`, type: 'text/x.tlog.size' };
    if (from !== last.size) return conflict;
    const head32 = Buffer.from(root, 'base64');
    if (from === to && !last.root.equals(head32)) return conflict;
    const hashes = proof.map((line) => Buffer.from(line, 'base64'));
    if (!isConsistent(from, to, hashes, last.root, head32)) return { status: 422, body: 'not consistent' };
    this.seen.set(origin, { size: to, root: head32 });
    return { status: 200, body: this.key.cosignature(body, this.time) };
  }
}
