/** Builds a tree with one file of the operator's own. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { OPERATOR } from '../../support/build.js';
import { buildWith } from '../publish/support.js';

/** @param folder where the operator's files are kept */
export async function buildWithOwnFile(
  { register, out, folder }: { readonly register: string; readonly out: string; readonly folder: string },
  file: string,
): Promise<void> {
  const operator = join(folder, 'operator.json');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(join(folder, 'site', file)), { recursive: true });
  writeFileSync(join(folder, 'site', file), `${file}, `.repeat(1000));
  const fields = z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(OPERATOR, 'utf8')));
  writeFileSync(operator, JSON.stringify({ ...fields, files: 'site' }));
  await buildWith({ register, out, operator, at: '2026-12-02T00:00:00Z' });
}
