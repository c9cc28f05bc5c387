/** Makes proofs, from the files of a service or of a folder. */
import { createHash } from 'node:crypto';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Effects } from '../pipeline/build.js';
import { Failure, writing } from '../base/errors.js';
import { chunksOf } from '../base/files.js';
import { parseVerifier } from '../base/keys.js';
import {
  MOST_BODY_BYTES,
  prove,
  type HashedDocument,
  type ProofRequest,
  type Proven,
} from '../programs/log/tlog/prove.js';
import { JSON_BYTES } from '../programs/mirror/origin.js';
import { parseJson } from '../base/portable.js';
import { follow, type Progress } from '../base/progress.js';
import { filler, urlTemplate, type Bucket } from '../routes/route.js';
import { keyForm } from '../routes/keys.js';
import { locator } from '../tree/locate.js';
import { isRendered } from '../tree/published-routes.js';
import { parseSnapshot, type Snapshot } from '../tree/snapshot-json.js';
import { baseUrlOf, OUTPUT, programName, type Common, type Program } from './options.js';
import { size } from './report.js';
import { print, type Terminal } from './terminal.js';
import { verified } from './verify-proof.js';

interface Flags extends Common {
  readonly write?: string;
}

export function addProve(program: Program, terminal: Terminal): void {
  program
    .command('prove')
    .description('Write a proof that a document is in the newest signed snapshot.')
    .argument('<from>', 'where the tree is published: a URL without a path, or a folder')
    .argument('<path>', 'the path of the document, such as /api/v1/group/45')
    .option('--write <file>', 'the file to write; its name should end with .tlog-proof')
    .examples(
      'prove https://register.example /api/v1/group/45 --write group-45.tlog-proof',
      "prove https://register.example '/api/v1/largest?limit=10' --write largest.tlog-proof",
      'prove dist /group/45/history.json --write history.tlog-proof',
    )
    .with(...OUTPUT)
    .action(async (from: string, path: string, flags: Flags) => {
      const { write, json, quiet } = flags;
      if (json === true && write === undefined)
        throw Failure.usage('--json prints facts instead of the proof, expected it along with --write');
      const effects = terminal.effects(quiet);
      const source = await sourceAt(from, effects);
      try {
        const { text, sha256, sequence, index, origin } = await proofOf(path, source, effects.progress);
        if (write === undefined) return terminal.say(text.slice(0, -1));
        writing(`"${write}"`, () => writeFileSync(write, text));
        const bytes = Buffer.byteLength(text);
        const facts = { path, sha256, sequence, index, bytes, requests: source.requests() };
        print(terminal, flags, facts, () => [
          `${write} proves ${path} in signed snapshot ${sequence} of ${origin} (${size(bytes)})`,
          `  verify it with a key that you have from elsewhere: ${programName(program)} verify-proof ${write} --key KEY`,
        ]);
      } finally {
        source.close();
      }
    });
}

/** Where files of a published tree are read from. */
interface TreeSource {
  /**
   * The hash of a file, and its content up to `most` bytes; undefined if there is no such file.
   * @param file its path below the tree, if that is not the path of its URL
   * @param longest how many bytes a response may have at all
   * @throws Failure environment: it can't be read; invalid: it is longer
   */
  readonly read: (
    file: { readonly path: string; readonly file?: string; readonly bucket: Bucket },
    most: number,
    longest: number,
  ) => Promise<HashedDocument | undefined>;
  /** The number of requests so far; 0 for a folder. */
  readonly requests: () => number;
  readonly close: () => void;
}

/** @param from the URL of a service, or a folder. @throws Failure environment: it is neither */
async function sourceAt(from: string, effects: Effects): Promise<TreeSource> {
  const { progress } = effects;
  if (!/^https?:\/\//.test(from)) {
    if (!existsSync(join(from, 'snapshot.json')))
      throw Failure.environment(`"${from}" is no published tree and no http or https URL`);
    return {
      read: async ({ path, file = path }, most) => {
        const place = join(from, file);
        if (statSync(place, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
        const document = new Hashing(most);
        for (const chunk of chunksOf(place)) document.write(chunk);
        return document.hashed;
      },
      requests: () => 0,
      close: () => progress.stop(),
    };
  }
  const base = baseUrlOf(from);
  const { Client, MovedOn } = await import('../programs/mirror/client.js');
  const client = new Client(base, 'prove', effects);
  progress.start(`asking ${from}`, 0, 'bytes');
  return {
    read: async ({ path, bucket }, most, bytes) => {
      const document = new Hashing(most);
      try {
        // All files must be of one snapshot.
        await client.receive({ path, bucket, bytes }, document, { 'Cache-Control': 'no-cache' });
        return document.hashed;
      } catch (error) {
        if (error instanceof MovedOn) return undefined;
        throw error;
      }
    },
    requests: () => client.requests,
    close: () => {
      client.close();
      progress.stop();
    },
  };
}

/** Hashes a document, and keeps it up to a size. */
class Hashing {
  readonly #most: number;
  #hash = createHash('sha256');
  #kept: Buffer[] = [];
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  restart(): void {
    this.#hash = createHash('sha256');
    [this.#kept, this.#bytes] = [[], 0];
  }

  write(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    // A folder's chunks share one buffer.
    if (this.#bytes <= this.#most) this.#kept.push(Buffer.from(chunk));
  }

  get hashed(): HashedDocument {
    const body = this.#bytes <= this.#most ? Buffer.concat(this.#kept) : undefined;
    return { sha256: this.#hash.digest('hex'), body };
  }
}

/** Finds a document by the route table that the tree publishes, and proves it. */
async function proofOf(path: string, { read }: TreeSource, progress: Progress): Promise<Proven> {
  const get = async (file: string, bucket: Bucket = 'page'): Promise<Uint8Array | undefined> =>
    (await read({ path: file, bucket }, JSON_BYTES, JSON_BYTES))?.body;
  const content = await get('/snapshot.json', 'api');
  if (content === undefined)
    throw Failure.environment('/snapshot.json is not there, expected a published tree');
  const snapshot = parseSnapshot(parseJson(Buffer.from(content).toString()), '/snapshot.json');
  const { request, file } = documentAt(path, snapshot);
  const proof = await prove(request, {
    get,
    document: () => read(file, MOST_BODY_BYTES, snapshot.tree.bytes),
    wait: async (ms) => {
      progress.start('waiting for the next snapshot', 0, 'files');
      await follow(setTimeout(ms), () => 0, progress);
    },
  });
  // By the keys that the tree itself names, so that no mistake is noticed only when the proof is needed.
  verified('the log', proof.text, (snapshot.log?.keys ?? []).map(parseVerifier));
  return proof;
}

/** @throws Failure usage: no document has the path */
function documentAt(path: string, { routes }: Snapshot) {
  const place = locator(routes.filter(isRendered), urlTemplate)(path);
  if (place?.suffix !== '') throw Failure.usage(noDocument(path, routes));
  const { name, file, bucket, parameters: [parameter] = [] } = place.route;
  const key = parameter && { value: place.key, parse: keyForm(parameter.name).keyOf };
  const request: ProofRequest = { path, route: name, key };
  return { request, file: { path, file: filler(file)(place.key), bucket } };
}

/** What is wrong with a path, and which one may be meant. */
function noDocument(path: string, routes: Snapshot['routes']): string {
  const pages = routes.filter(({ requires }) => requires !== undefined);
  const page = locator(pages, (each) => each.path)(path);
  const shown = routes.find(({ name }) => name === page?.route.requires);
  const query = routes
    .find((route) => route.path === path)
    ?.parameters?.find((parameter) => parameter.in === 'query');
  const meant =
    page !== undefined && shown !== undefined
      ? filler(urlTemplate(shown))(page.key)
      : query && `${path}?${query.name}=${query.default}`;
  return `no route of documents leads to "${path}"${meant === undefined ? ', expected a path such as /api/v1/group/45' : `: did you mean ${meant}?`}`;
}
