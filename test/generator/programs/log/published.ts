/** Checks a signed tree as its reader would, with nothing but the specification and `node:crypto`. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { documentsOf, hashesOf, manifestOf, urlsOf } from '../../publish/support.js';
import { base64, entriesIn, isSignedBy, publicKeyOf, rootOf, tilePath } from './naive.js';
import { filesOfLog, manifestHash } from './signed.js';

/** The folder of the log, below the tree. */
export const logFolder = (out: string): string => `log/${manifestOf(out).tree.id}`;
export const logOf = (out: string): string => join(out, logFolder(out));

/** The entries of a log of a size, from its bundles. */
export function entriesOf(folder: string, size: number): string[] {
  const bundles = Array.from({ length: Math.ceil(size / 256) }, (_, n) =>
    readFileSync(join(folder, tilePath('entries', n, Math.min(256, size - n * 256)))),
  );
  return bundles.flatMap(entriesIn);
}

/** Size and root in a checkpoint. */
export function checkpointIn(file: string): { readonly size: number; readonly root: string } {
  const [, size, root = ''] = readFileSync(file, 'utf8').split('\n');
  return { size: Number(size), root };
}

/** The numbers of the signed snapshots. */
export const sequencesOf = (out: string): number[] =>
  entriesOf(logOf(out), checkpointIn(join(logOf(out), 'checkpoint')).size).map((entry) =>
    Number(/^sequence (\d+)$/m.exec(entry)?.[1]),
  );

const logSchema = z.object({
  digest: z.string(),
  tree: z.object({ files: z.number() }),
  log: z.object({ path: z.string(), origin: z.string(), keys: z.array(z.string()) }),
});

/** What is wrong with a signed tree, from its documents to the key. */
export function problemsOf(out: string, vkey: string): string[] {
  const problems: string[] = [];
  const expectSame = (what: string, found: unknown, expected: unknown): void => {
    if (found !== expected) problems.push(`${what}: ${String(found)}, expected ${String(expected)}`);
  };
  const json = readFileSync(join(out, 'snapshot.json'), 'utf8');
  const { digest, tree, log } = logSchema.parse(JSON.parse(json));
  expectSame('the path of the log', log.path, `/${logFolder(out)}`);
  expectSame('the origin of the log', log.origin, vkey.split('+')[0]);
  expectSame('the key of the log', log.keys.includes(vkey), true);

  const folder = logOf(out);
  const { size, root } = checkpointIn(join(folder, 'checkpoint'));
  const [text = '', signatures = ''] = readFileSync(join(folder, 'checkpoint'), 'utf8').split('\n\n');
  expectSame('the signature', isSignedBy(publicKeyOf(vkey), `${text}\n`, signatures), true);
  const published = entriesOf(folder, size);
  expectSame('the root', base64(rootOf(published)), root);

  // The documents and earlier entries give every file of the log, to the byte.
  const [hashes, urlOf] = [hashesOf(out), urlsOf(out)];
  const documents = new Map(documentsOf(hashes).map((file) => [urlOf(file) ?? '', hashes[file] ?? '']));
  const { entries, files } = filesOfLog(
    { ...manifestOf(out), documents },
    published.slice(0, -1),
    manifestHash(json),
  );
  expectSame('the newest entry', published.at(-1), entries.at(-1));
  expectSame('the digest', /^digest (.*)$/m.exec(entries.at(-1) ?? '')?.[1], digest);
  expectSame(
    'the number of documents',
    Number(/^documents (.*)$/m.exec(entries.at(-1) ?? '')?.[1]),
    tree.files,
  );
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name).slice(folder.length + 1));
  for (const [name, content] of files)
    expectSame(
      name,
      found.includes(name) ? readFileSync(join(folder, name), 'latin1') : 'missing',
      Buffer.from(content).toString('latin1'),
    );
  // Partial tiles of earlier checkpoints stay.
  const others = found.filter((name) => !files.has(name) && !/^tile\/.*\.p\/\d+$/.test(name));
  expectSame('other files', others.join(), 'checkpoint');
  return problems;
}
