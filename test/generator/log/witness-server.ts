/**
 * A witness after C2SP tlog-witness and tlog-cosignature, which shares no code with the generator.
 * It keeps the last size and root of each log, verifies signatures and consistency, and cosigns.
 */
import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest();
};

const rawOf = (key: KeyObject): Buffer => Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url');

/** A new Ed25519 key pair with a name, for a log (type 1) or a witness (type 4). */
export function newKey(name: string, type: 1 | 4) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const material = Buffer.concat([Buffer.from([type]), rawOf(publicKey)]);
  const id = sha256(`${name}\n`, material).subarray(0, 4);
  const lineOf = (signature: Uint8Array): string =>
    `\u2014 ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`;
  return {
    name,
    vkey: `${name}+${id.toString('hex')}+${material.toString('base64')}`,
    id,
    publicKey,
    /** The line of a signature over a text. */
    signature: (text: string): string => lineOf(sign(null, Buffer.from(text), privateKey)),
    /** The line of a cosignature over a text. */
    cosignature: (text: string, time: number): string => {
      const stamp = Buffer.alloc(8);
      stamp.writeBigUInt64BE(BigInt(time));
      const message = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
      return lineOf(Buffer.concat([stamp, sign(null, message, privateKey)]));
    },
  };
}
export type Key = ReturnType<typeof newKey>;
/** What is needed to verify signatures. */
export type PublicKey = Pick<Key, 'name' | 'id' | 'publicKey'>;

/** The key of a log, from its text. */
export function publicKeyOf(vkey: string): PublicKey {
  const [, name = '', id = '', material = ''] = /^([^+]+)\+(\w{8})\+(.*)$/.exec(vkey) ?? [];
  const x = Buffer.from(material, 'base64').subarray(1).toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return { name, id: Buffer.from(id, 'hex'), publicKey };
}

const nodeOf = (left: Buffer, right: Buffer): Buffer => sha256(Buffer.from([1]), left, right);

/** The root of some entries, by the recursive definition of RFC 6962, section 2.1. */
export function rootOf(entries: readonly string[]): Buffer {
  if (entries.length === 0) return sha256('');
  if (entries.length === 1) return sha256(Buffer.from([0]), entries[0] ?? '');
  const split = splitOf(entries.length);
  return nodeOf(rootOf(entries.slice(0, split)), rootOf(entries.slice(split)));
}

function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

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
  const next = (): Buffer => {
    const hash = rest.shift();
    if (hash === undefined) throw new RangeError('the proof is too short');
    return hash;
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
  try {
    const both = roots(old, size, true);
    return rest.length === 0 ? both : undefined;
  } catch {
    return undefined;
  }
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

  async start(port: number): Promise<this> {
    await new Promise<void>((settle) => this.#server.listen(port, '127.0.0.1', settle));
    const address = this.#server.address();
    const actual = typeof address === 'object' && address !== null ? address.port : port;
    this.url = `http://127.0.0.1:${actual}/prefix`;
    return this;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((settle) => {
      this.#server.close(() => settle());
    });
  }

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
    if (from === 0 ? proof.length > 0 : !this.#isConsistent(proof, [from, to], last.root, head32))
      return { status: 422, body: 'not consistent' };
    this.seen.set(origin, { size: to, root: head32 });
    return { status: 200, body: this.key.cosignature(body, this.time) };
  }

  #isConsistent(
    proof: readonly string[],
    sizes: readonly [number, number],
    oldRoot: Buffer,
    root: Buffer,
  ): boolean {
    const hashes = proof.map((line) => Buffer.from(line, 'base64'));
    const roots = rootsBy(hashes, sizes, oldRoot);
    return roots?.[0].equals(oldRoot) === true && roots[1].equals(root);
  }
}

/** Whether a note's text has the signature of a log's key. */
export function isSignedBy({ name, id, publicKey }: PublicKey, text: string, signatures: string): boolean {
  return signatures.split('\n').some((line) => {
    const [, signer = '', value = ''] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = Buffer.from(value, 'base64');
    if (signer !== name || !bytes.subarray(0, 4).equals(id)) return false;
    return verify(null, Buffer.from(text), publicKey, bytes.subarray(4));
  });
}
