/** Logs of this project, verified by go/verify.go, on code of Go's checksum database as Debian packages it. */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { generateSigner, parseSigner } from '../../../../generator/base/keys.js';
import { checkpointText } from '../../../../generator/programs/log/tlog/text.js';
import { createKey } from '../../../../generator/programs/log/key-file.js';
import { STEP } from '../../publish/support.js';
import { PROJECT, temporary } from '../../../support/folder.js';
import { has } from '../../../support/programs.js';
import { checkpointIn } from './published.js';
import { ORIGIN } from './signed.js';
import { newSite } from './site.js';
import { makeLog } from './support.js';

const path = temporary();

/** Compiles the verifier. @returns the program */
function buildVerifier(): string {
  const folder = path('go');
  const program = join(folder, 'verify');
  const source = join(PROJECT, 'test/generator/programs/log/go/verify.go');
  const own = {
    GO111MODULE: 'off',
    GOPATH: '/usr/share/gocode',
    GOCACHE: join(folder, 'cache'),
    GOFLAGS: '',
  };
  const env = { PATH: process.env['PATH'], ...own };
  const { status, stderr } = spawnSync('go', ['build', '-o', program, source], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`verify.go doesn't compile: ${stderr}`);
  return program;
}

describe.skipIf(!has('the signed log, verified by Go', 'go'))('the code of Go’s checksum database', () => {
  const SIZES = 600;
  const log = path('log');
  const signer = parseSigner(generateSigner('example.com/log'));
  const checkpoints = path('checkpoints');
  let program = '';
  let roots: readonly string[];
  /** The checkpoints of all sizes. */
  let files: readonly string[] = [];

  /** Signs a checkpoint. @returns its file */
  const sign = (size: number, root: string, origin = signer.name): string => {
    const text = checkpointText({ origin, size, root });
    const file = join(checkpoints, hash('sha256', text));
    writeFileSync(file, `${text}\n${signer.sign(text)}`);
    return file;
  };
  /** @param given files of checkpoints, ascending by size; each log must begin with the one before */
  function verified(vkey: string, folder: string, given: readonly string[]) {
    const { status, stdout, stderr } = spawnSync(program, [vkey, folder, ...given], { encoding: 'utf8' });
    return { status, lines: stdout.split('\n').slice(0, -1), reason: stderr };
  }

  beforeAll(() => {
    program = buildVerifier();
    const entries = Array.from({ length: SIZES }, (_, size) =>
      size % 7 === 0 ? '' : `register-api/snapshot@v2\nsequence ${size + 1}\n`.repeat(size % 5),
    );
    roots = makeLog(log, entries).map((root) => root.toString('base64'));
    mkdirSync(checkpoints);
    files = roots.map((root, size) => sign(size, root));
  });

  it('verifies every size from 0 to 600, each as a continuation of the one before', () => {
    const lines = roots.map((root, size) => `${size} ${root}`);
    expect(verified(signer.vkey, log, files)).toEqual({ status: 0, lines, reason: '' });
  });

  it('refuses altered files, another key, another log and no continuation, so that it is known to look', () => {
    for (const file of ['tile/0/000', 'tile/0/002.p/88', 'tile/1/000.p/2', 'tile/entries/002.p/88']) {
      const folder = path('altered');
      cpSync(log, folder, { recursive: true });
      const bytes = readFileSync(join(folder, file));
      bytes[bytes.length - 1]! ^= 1;
      writeFileSync(join(folder, file), bytes);
      expect(verified(signer.vkey, folder, files.slice(-1)).status, file).not.toBe(0);
    }
    const other = parseSigner(generateSigner('example.com/log'));
    expect(verified(other.vkey, log, files.slice(-1)).reason).toMatch(/no verifiable signatures/);
    expect(verified(signer.vkey, log, [sign(599, roots[598]!)]).status).not.toBe(0);
    const foreign = sign(SIZES, roots[SIZES]!, 'example.com/other');
    expect(verified(signer.vkey, log, [foreign]).reason).toMatch(/no checkpoint of example.com\/log/);
  });

  it('verifies a published tree, through builds and a new key', async () => {
    const of = newSite(path);
    const next = join(of.folder, 'next.key');
    const nextKey = createKey(ORIGIN, next);
    const saved: string[] = [];
    const steps = [[''], [STEP], [`UPDATE games SET visits = 7 WHERE id = 1`], ['', '--key', next]];
    for (const [sql = '', ...options] of steps) {
      of.change(sql);
      await of.built(...options);
      saved.push(join(of.folder, `checkpoint-${saved.length}`));
      cpSync(join(of.log, 'checkpoint'), saved.at(-1)!);
    }
    const lines = saved.map(checkpointIn).map(({ size, root }) => `${size} ${root}`);
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['1', '2', '3', '4']);
    expect(verified(of.vkey, of.log, saved)).toEqual({ status: 0, lines, reason: '' });
    const newest = { status: 0, lines: lines.slice(-1), reason: '' };
    expect(verified(nextKey, of.log, saved.slice(-1))).toEqual(newest);
  });
});
