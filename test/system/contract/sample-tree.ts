/** The tree of a sample, built once for all test files that a process runs, which only read it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSample } from '../../../data/sample.js';
import { published } from '../../support/build.js';
import { WITH_PLATFORM_IDS, changeRegister } from '../../support/register.js';

let sample: Promise<string> | undefined;

async function buildSample(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'register-sample-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const [register, out] = [join(folder, 'register.sqlite'), join(folder, 'dist')];
  await writeSample({ file: register, records: 150, seed: 3 });
  changeRegister(register, WITH_PLATFORM_IDS);
  await published({ register, out });
  return out;
}

export const sampleTree = (): Promise<string> => (sample ??= buildSample());
