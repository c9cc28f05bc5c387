/** A signed tree for servers, with the tiles of a log that has more entries than it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeSample } from '../../../data/sample.js';
import { createKey } from '../../../generator/programs/log/key-file.js';
import { OPERATOR, published } from '../../support/build.js';

const manifest = z.object({ log: z.object({ path: z.string() }) });

/** Full and partial tiles of 300 entries, and one with a number of seven digits. */
const TILES = ['0/000', '0/001.p/43', '0/001.p/44', '1/000.p/1', '0/x001/x234/067'];
const BUNDLES = ['entries/000', 'entries/001.p/43', 'entries/001.p/44', 'entries/x001/x234/067'];

/** Builds a signed tree; its key is next to it. Servers serve further tiles, whatever they say. */
export async function buildSigned(register: string, out: string, operator = OPERATOR): Promise<void> {
  const key = `${out}.key`;
  if (!existsSync(key)) createKey('register.example/log', key);
  await published({ register, out, operator, acceptRemovals: true, key: [key] });
  const { log } = manifest.parse(JSON.parse(readFileSync(join(out, 'snapshot.json'), 'utf8')));
  for (const [index, tile] of [...TILES, ...BUNDLES].entries()) {
    const path = join(out, log.path, 'tile', tile);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.alloc(8192 - index, `tile ${tile}; `));
  }
}

let sample: Promise<string> | undefined;

async function buildSample(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'register-signed-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const [file, out] = [join(folder, 'register.sqlite'), join(folder, 'dist')];
  await writeSample({ file, records: 150, seed: 3 });
  await buildSigned(file, out);
  return out;
}

/** The signed tree of a sample, built once for all test files that a process runs, which only read it. */
export const signedSample = (): Promise<string> => (sample ??= buildSample());
