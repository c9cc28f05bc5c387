import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { Failure, writing } from '../errors.js';
import { parseVerifier } from '../keys.js';
import { MOST_BODY_BYTES, prove } from '../log/prove.js';
import type { ProofRequest, Proven } from '../log/prove.js';
import { JSON_BYTES } from '../mirror/origin.js';
import { parseJson } from '../portable.js';
import { locator } from '../tree/locate.js';
import { isRendered } from '../tree/published-routes.js';
import { snapshotSchema } from '../tree/snapshot-json.js';
import type { Snapshot } from '../tree/snapshot-json.js';
import { OUTPUT, withOptions } from './options.js';
import type { Common } from './options.js';
import { size } from './report.js';
import { filler, urlTemplate } from '../routes/index.js';
import type { Bucket } from '../routes/index.js';
import { keyForm } from '../routes/keys.js';
import { openPublished } from './published.js';
import type { PublishedFile, PublishedFiles } from './published.js';
import { print } from './terminal.js';
import type { Terminal } from './terminal.js';
import { verified } from './verifier-keys.js';

interface Flags extends Common {
  readonly write?: string;
}

export function addProve(program: Command, terminal: Terminal): void {
  const command = program
    .command('prove')
    .description('Write a proof that a document is in the newest signed snapshot.')
    .argument('<from>', 'where the tree is published: a URL without a path, or a folder')
    .argument('<path>', 'the path of the document, such as /api/v1/group/45')
    .option('--write <file>', 'the file to write; its name should end with .tlog-proof')
    .addHelpText(
      'after',
      `
Examples
  $ npm run -s snapshot -- prove https://register.example /api/v1/group/45 > group-45.tlog-proof
  $ npm run snapshot -- prove https://register.example '/api/v1/largest?limit=10' --write largest.tlog-proof
  $ npm run snapshot -- prove dist /group/45/history.json --write history.tlog-proof`,
    );
  withOptions(command, ...OUTPUT).action(async (from: string, path: string, flags: Flags) => {
    const { write, json, quiet } = flags;
    if (json === true && write === undefined) {
      throw Failure.usage('--json prints facts instead of the proof, expected it along with --write');
    }
    const files = await openPublished(from, terminal.effects(quiet));
    try {
      const { text, sha256, sequence, index, origin } = await proofOf(path, files);
      if (write === undefined) return terminal.say(text.slice(0, -1));
      writing(`"${write}"`, () => writeFileSync(write, text));
      const bytes = Buffer.byteLength(text);
      const facts = { path, sha256, sequence, index, bytes, requests: files.requests() };
      print(terminal, flags, facts, () => [
        `${write} proves ${path} in signed snapshot ${sequence} of ${origin} (${size(bytes)})`,
        `  verify it with a key that you have from elsewhere: npm run snapshot -- verify-proof ${write} --key KEY`,
      ]);
    } finally {
      files.close();
    }
  });
}

/** Finds a document by the route table that the tree publishes, and proves it. */
async function proofOf(path: string, files: PublishedFiles): Promise<Proven> {
  const get = async (published: string, bucket: Bucket = 'page'): Promise<Uint8Array | undefined> => {
    const file = { path: published, file: published.slice(1), bucket };
    return (await files.read(file, JSON_BYTES, JSON_BYTES))?.body;
  };
  const snapshot = await get('/snapshot.json', 'api');
  if (snapshot === undefined)
    throw Failure.environment('/snapshot.json is not there, expected a published tree');
  const published = readSnapshot(Buffer.from(snapshot));
  const { request, document } = documentAt(path, published);
  const proof = await prove(request, {
    get,
    document: () => files.read(document, MOST_BODY_BYTES, published.tree.bytes),
    wait: files.wait,
  });
  // By the keys that the tree itself names, so that no mistake is noticed only when the proof is needed.
  verified('the log', proof.text, (published.log?.keys ?? []).map(parseVerifier));
  return proof;
}

/** @throws Failure invalid */
function readSnapshot(content: Buffer): Snapshot {
  const { data } = snapshotSchema.safeParse(parseJson(content.toString()));
  if (data !== undefined) return data;
  throw Failure.invalid('/snapshot.json is invalid: expected the routes of a tree, and the keys of its log');
}

/** @throws Failure usage: no document has the path */
function documentAt(
  path: string,
  { routes }: Snapshot,
): { readonly request: ProofRequest; readonly document: PublishedFile } {
  const place = locator(routes.filter(isRendered), urlTemplate)(path);
  if (place?.suffix !== '') throw Failure.usage(noDocument(path, routes));
  const { name, file, bucket, parameters: [parameter] = [] } = place.route;
  const key = parameter && { value: place.key, of: keyForm(parameter.name).keyOf };
  return {
    request: { path, route: name, key },
    document: { path, file: filler(file)(place.key), bucket },
  };
}

/** What is wrong with a path, and which one may be meant. */
function noDocument(path: string, routes: Snapshot['routes']): string {
  const pages = routes.filter(({ requires }) => requires !== undefined);
  const page = locator(pages, (each) => each.path)(path);
  const shown = routes.find(({ name }) => name === page?.route.requires);
  const listed = routes.find((route) => route.path === path && urlTemplate(route) !== path);
  const parameter = listed?.parameters?.find((each) => each.in === 'query');
  const meant =
    page !== undefined && shown !== undefined
      ? filler(urlTemplate(shown))(page.key)
      : parameter && `${path}?${parameter.name}=${parameter.default}`;
  return `no route of documents leads to "${path}"${meant === undefined ? ', expected a path such as /api/v1/group/45' : `: did you mean ${meant}?`}`;
}
