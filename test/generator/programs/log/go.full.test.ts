/** Logs of this project, verified by code of others. */
import { hash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { append } from '../../../../generator/programs/log/log-files.js';
import { EMPTY_HEAD } from '../../../../generator/programs/log/tlog/merkle.js';
import { generateSigner, parseSigner } from '../../../../generator/base/keys.js';
import { checkpointText } from '../../../../generator/programs/log/tlog/text.js';
import { createKey } from '../../../../generator/programs/log/key-file.js';
import { STEP } from '../../publish/support.js';
import { temporary } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';
import { buildVerifier, runVerifier } from './go-verifier.js';
import { checkpointIn } from './published.js';
import { ORIGIN } from './signed.js';
import { newSite } from './site.js';

const path = temporary();

const SIZES = 600;

function write(folder: string, files: ReadonlyMap<string, Buffer>): void {
  for (const [file, bytes] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), bytes);
  }
}

describe.skipIf(!has('the signed log, verified by Go', 'go'))('the code of Go’s checksum database', () => {
  /** The log as it is published, and one in which no partial tile was ever removed. */
  const [log, all] = [path('log'), path('all')];
  const signer = parseSigner(generateSigner('example.com/log'));
  const roots = [EMPTY_HEAD.toString('base64')];
  const removed: string[] = [];
  const checkpoints = path('checkpoints');
  let program = '';

  /** Signs a checkpoint. @returns its file */
  const sign = (size: number, root: string, origin = signer.name): string => {
    const text = checkpointText({ origin, size, root });
    const file = join(checkpoints, hash('sha256', text));
    writeFileSync(file, `${text}\n${signer.sign(text)}`);
    return file;
  };
  /** The checkpoints of all sizes, and what is printed of each. */
  let files: readonly string[] = [];
  let verified: readonly string[] = [];

  beforeAll(() => {
    program = buildVerifier(path('go'));
    for (let size = 0; size < SIZES; size += 1) {
      const entry = size % 7 === 0 ? '' : `register-api/snapshot@v2\nsequence ${size + 1}\n`.repeat(size % 5);
      const appended = append(log, size, Buffer.from(entry));
      for (const folder of [log, all]) write(folder, appended.files);
      for (const file of appended.removed) rmSync(join(log, file));
      removed.push(...appended.removed);
      roots.push(appended.root.toString('base64'));
    }
    mkdirSync(checkpoints);
    files = roots.map((root, size) => sign(size, root));
    verified = roots.map((root, size) => `${size} ${root}`);
  });

  it.each([
    ['as published', log],
    ['with all partial tiles', all],
  ])('verifies every size from 0 to 600, each as a continuation of the one before: %s', (_, folder) => {
    expect(removed).toHaveLength(2 * 2 * 255);
    expect(runVerifier(program, signer.vkey, folder, files)).toEqual({
      status: 0,
      lines: verified,
      reason: '',
    });
  });

  it.each(['tile/0/000', 'tile/0/002.p/88', 'tile/1/000.p/2', 'tile/entries/000', 'tile/entries/002.p/88'])(
    'refuses an altered %s, so that it is known to look at it',
    (file) => {
      const folder = path('altered');
      cpSync(log, folder, { recursive: true });
      const bytes = readFileSync(join(folder, file));
      bytes[bytes.length - 1]! ^= 1;
      writeFileSync(join(folder, file), bytes);
      const { status, reason } = runVerifier(program, signer.vkey, folder, files.slice(-1));
      expect(status).not.toBe(0);
      expect(reason).not.toBe('');
    },
  );

  it('refuses another key, another log and a checkpoint that is no continuation', () => {
    const other = parseSigner(generateSigner('example.com/log'));
    expect(runVerifier(program, other.vkey, log, files.slice(-1)).reason).toMatch(/no verifiable signatures/);
    const forged = sign(599, roots[598]!);
    expect(runVerifier(program, signer.vkey, log, [forged]).status).not.toBe(0);
    const foreign = sign(SIZES, roots[SIZES]!, 'example.com/other');
    expect(runVerifier(program, signer.vkey, log, [foreign]).reason).toMatch(
      /no checkpoint of example.com\/log/,
    );
  });

  it('verifies a published tree, through builds and a new key', async () => {
    const of = newSite(path);
    const next = join(of.folder, 'next.key');
    createKey(ORIGIN, next);
    const steps = [
      () => of.built(),
      () => {
        of.change(STEP);
        return of.built();
      },
      () => {
        of.change(`UPDATE games SET visits = 7 WHERE id = 1`);
        return of.built();
      },
      () => of.built('--key', next),
    ];
    const saved = [];
    for (const [step, run] of steps.entries()) {
      await run();
      saved.push(join(of.folder, `checkpoint-${step}`));
      cpSync(join(of.log, 'checkpoint'), saved[step]!);
    }
    const verdict = runVerifier(program, of.vkey, of.log, saved);
    expect(verdict).toMatchObject({ status: 0, reason: '' });
    expect(verdict.lines.map((line) => line.split(' ')[0])).toEqual(['1', '2', '3', '4']);
    const { size, root } = checkpointIn(saved[3]!);
    const vkey = readFileSync(`${next}.pub`, 'utf8').trimEnd();
    expect(runVerifier(program, vkey, of.log)).toEqual({ status: 0, lines: [`${size} ${root}`], reason: '' });
  });
});
