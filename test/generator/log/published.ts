/** Checks a signed tree as its reader would who has nothing but the specification and `node:crypto`. */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { naiveHead, naiveManifest } from './support.js';

const manifestSchema = z.looseObject({
  sequence: z.number(),
  as_of: z.string().nullable(),
  digest: z.string(),
  tree: z.object({ id: z.string(), files: z.number() }),
  log: z.object({ path: z.string(), origin: z.string(), keys: z.array(z.string()) }).optional(),
  routes: z.array(
    z.looseObject({
      name: z.string(),
      path: z.string(),
      file: z.string(),
      parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).optional(),
    }),
  ),
});

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const sha256Of = (text: string): string => createHash('sha256').update(text).digest('base64');
const leaf = (text: string): string => createHash('sha256').update('\0').update(text).digest('base64');

/** Whether the vkey has signed the note, by the format of C2SP signed-note alone. */
function isSignedBy(note: string, vkey: string): boolean {
  const [text = '', signatures = ''] = note.split('\n\n');
  const [name = '', id = ''] = vkey.split('+');
  const key = Buffer.from(vkey.slice(name.length + id.length + 2), 'base64').subarray(1);
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key]);
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  return signatures.split('\n').some((line) => {
    const [, signer, encoded = ''] = line.split(' ');
    const bytes = Buffer.from(encoded, 'base64');
    return (
      signer === name &&
      bytes.subarray(0, 4).toString('hex') === id &&
      verify(null, Buffer.from(`${text}\n`), publicKey, bytes.subarray(4))
    );
  });
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.trimEnd().split('\n'));

/** The entries of a log of a size, from its bundles. */
export function entriesOf(folder: string, size: number): string[] {
  const entries: string[] = [];
  for (let n = 0; n * 256 < size; n += 1) {
    const width = Math.min(256, size - n * 256);
    const name = `tile/entries/${String(n).padStart(3, '0')}${width < 256 ? `.p/${width}` : ''}`;
    const bundle = readFileSync(join(folder, name));
    for (let at = 0; at < bundle.length;) {
      const end = at + 2 + bundle.readUInt16BE(at);
      entries.push(bundle.subarray(at + 2, end).toString());
      at = end;
    }
  }
  return entries;
}

export const logOf = (out: string): string => {
  const { tree } = manifestSchema.parse(JSON.parse(readFileSync(join(out, 'snapshot.json'), 'utf8')));
  return join(out, 'log', tree.id);
};

/** Size and root of the published checkpoint, or of one in another file. */
export function checkpointOf(file: string): { readonly size: number; readonly root: string } {
  const [, size, root = ''] = readFileSync(file, 'utf8').split('\n');
  return { size: Number(size), root };
}

/** What is wrong with a signed tree, from its documents to the key. */
export function problemsOf(out: string, vkey: string): string[] {
  const problems: string[] = [];
  const expectSame = (what: string, found: unknown, expected: unknown): void => {
    if (found !== expected) problems.push(`${what}: ${String(found)}, expected ${String(expected)}`);
  };
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(out, 'snapshot.json'), 'utf8')));
  const folder = logOf(out);
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  expectSame('the path of the log', manifest.log?.path, `/log/${manifest.tree.id}`);
  expectSame('the origin of the log', manifest.log?.origin, vkey.split('+')[0]);
  expectSame('the key of the log', manifest.log?.keys.includes(vkey), true);

  const note = read('checkpoint');
  expectSame('the signature', isSignedBy(note, vkey), true);
  const { size, root } = checkpointOf(join(folder, 'checkpoint'));
  const entries = entriesOf(folder, size);
  expectSame('the number of entries', entries.length, size);
  expectSame('the root', naiveHead(entries).toString('base64'), root);

  const routes = read('index/routes.txt');
  expectSame('the digest', sha256(routes), manifest.digest);
  const lines = routes.trimEnd().split('\n');
  const documents = lines.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0);
  expectSame(
    'the newest entry',
    entries.at(-1),
    `register-api/snapshot@v2\ntree ${manifest.tree.id}\nsequence ${manifest.sequence}\n` +
      `as_of ${manifest.as_of ?? 'none'}\ndocuments ${documents}\ndigest ${manifest.digest}\n` +
      `manifest ${naiveManifest(join(out, 'snapshot.json'))}\n`,
  );
  expectSame('the number of documents', documents, manifest.tree.files);
  const names = ['routes.txt'];
  for (const line of lines) {
    const [name = '', count, routeRoot] = line.split(' ');
    const route = manifest.routes.find((each) => each.name === name);
    if (route === undefined) throw new Error(`no route ${name}`);
    const { path, file, parameters: [parameter] = [] } = route;
    if (parameter === undefined && count === '0') {
      expectSame(`the root of ${name}`, sha256Of(''), routeRoot);
      continue;
    }
    if (parameter === undefined) {
      const text = `${sha256(readFileSync(join(out, file)))}  ${path}\n`;
      expectSame(`the root of ${name}`, leaf(text), routeRoot);
      continue;
    }
    names.push(name);
    const hole = `{${parameter.name}}`;
    const template = path.includes(hole) ? path : `${path}?${parameter.name}=${hole}`;
    const texts: string[] = [];
    const files = ['chunks.txt'];
    for (const [page, pageLine] of linesOf(read(`index/${name}/chunks.txt`)).entries()) {
      const listed = read(`index/${name}/chunks-${page}.txt`);
      const chunks = listed.trimEnd().split('\n');
      files.push(`chunks-${page}.txt`);
      const own: string[] = [];
      for (const chunk of chunks) {
        const [first, hash] = chunk.split(' ');
        const text = read(`index/${name}/${first}.txt`);
        files.push(`${first}.txt`);
        expectSame(`the leaf of ${name} ${first}`, leaf(text), hash);
        expectSame(
          `the first of ${name} ${first}`,
          text.slice(66, text.indexOf('\n')),
          template.replace(hole, first ?? ''),
        );
        own.push(text);
      }
      expectSame(
        `page ${page} of ${name}`,
        `${chunks[0]?.split(' ')[0]} ${chunks.length} ${naiveHead(own).toString('base64')}`,
        pageLine,
      );
      if (page > 0) expectSame('a full page before', texts.length % 256, 0);
      texts.push(...own);
    }
    expectSame(`the root of ${name}`, naiveHead(texts).toString('base64'), routeRoot);
    const documentLines = linesOf(texts.join(''));
    expectSame(`the count of ${name}`, documentLines.length, Number(count));
    const [before = '', after = ''] = template.split(hole);
    for (const each of documentLines) {
      const [hash, url = ''] = each.split('  ');
      const value = url.slice(before.length, url.length - after.length);
      const document = join(out, file.replace(hole, value));
      expectSame(url, existsSync(document) ? sha256(readFileSync(document)) : 'missing', hash);
    }
    expectSame(
      `the files of ${name}`,
      readdirSync(join(folder, 'index', name))
        .toSorted()
        .join(),
      files.toSorted().join(),
    );
  }
  expectSame('the index', readdirSync(join(folder, 'index')).toSorted().join(), names.toSorted().join());
  expectSame('the folder', readdirSync(folder).toSorted().join(), 'checkpoint,index,tile');
  return problems;
}
