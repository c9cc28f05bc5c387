/** An origin of made-up bundles, as docs/format.md describes them and no builder makes them: it can break any rule. */
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ended, listening } from '../support/ports.js';
import { sha256 } from '../support/published.js';

/** Bodies by URL path. */
type Documents = Readonly<Record<string, string>>;

const NO_BUNDLE = { from: null, from_digest: null, bundle: null };

/** A gzip file of these lines. */
export const zipped = (lines: readonly object[]): Buffer =>
  gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

const fileOf = (path: string): string => `${path.slice(1)}.json`;

/** The line of a document in a bundle. */
export const lineOf = (path: string, body: string) => ({
  path,
  file: fileOf(path),
  sha256: sha256(body),
  bytes: Buffer.byteLength(body),
  body,
});

export class MadeUpOrigin {
  /** The responses, by path. */
  readonly files = new Map<string, Buffer>();
  readonly history: { readonly digest: string; readonly documents: Documents }[] = [];
  readonly tree = 'a'.repeat(16);
  /** As the index of the changes has them, the newest first. */
  #changes: readonly object[] = [];
  readonly #server = createServer(({ url = '' }, response) => {
    const body = this.files.get(url);
    if (body === undefined) response.writeHead(404).end('not found');
    else {
      const type = url.endsWith('.json') ? 'application/json' : 'application/gzip';
      response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
    }
  });

  /** @returns its URL */
  start = async (): Promise<string> => `http://127.0.0.1:${await listening(this.#server)}`;
  stop = (): Promise<void> => ended(this.#server);

  /** Forgets everything, and has published nothing. */
  reset(): void {
    this.files.clear();
    this.history.length = 0;
    this.#changes = [];
  }

  /** Publishes a snapshot, with the bundle that leads there from the last. */
  publish(documents: Documents): void {
    const last = this.history.at(-1);
    const digest = sha256(JSON.stringify(documents));
    const to = this.history.push({ digest, documents });
    const common = { sequence: to, digest, as_of: null, built_at: '2026-12-01T00:00:00Z', counts: {} };
    this.#changes = [{ ...common, ...NO_BUNDLE }, ...this.#changes];
    if (last === undefined) return this.#announce();
    const step = { from: to - 1, from_digest: last.digest };
    this.#changes = this.#changes.with(0, { ...common, ...NO_BUNDLE, ...step });
    this.putBundle(
      zipped([
        { ...step, tree: this.tree, to, to_digest: digest },
        ...Object.keys(last.documents).flatMap((path) =>
          documents[path] === undefined ? { path, file: fileOf(path), deleted: true } : [],
        ),
        ...Object.entries(documents).flatMap(([path, body]) =>
          last.documents[path] === body ? [] : lineOf(path, body),
        ),
      ]),
    );
  }

  /** Has another bundle to the newest snapshot. */
  putBundle(content: Buffer): void {
    const file = `/changes/${this.history.length}.ndjson.gz`;
    this.files.set(file, content);
    const bundle = { file, bytes: content.length, sha256: sha256(content) };
    this.#changes = this.#changes.with(0, { ...this.#changes[0], bundle });
    this.#announce();
  }

  /** Has no bundles, since those to the newest snapshot were too large. */
  cap(): void {
    this.#changes = this.#changes.map((change) => ({ ...change, ...NO_BUNDLE }));
    this.#announce();
  }

  #announce(): void {
    const { digest } = this.history.at(-1) ?? {};
    const index = {
      tree: this.tree,
      sequence: this.history.length,
      digest,
      oldest: 1,
      changes: this.#changes,
    };
    this.files.set('/changes/index.json', Buffer.from(JSON.stringify(index)));
  }
}
