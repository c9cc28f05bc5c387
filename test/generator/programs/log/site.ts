/** A site whose snapshots are signed, by the command line in this process. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createKey } from '../../../../generator/programs/log/key-file.js';
import { ROWS, inProcess, leftovers, stateOf } from '../../publish/support.js';
import { OPERATOR } from '../../../support/build.js';
import { changeRegister, writeRegister } from '../../../support/register.js';
import { differing, inState } from '../../../support/tree.js';
import { ORIGIN } from './signed.js';
import { logOf, problemsOf, sequencesOf } from './published.js';

/** Names new paths. */
type Paths = (name: string) => string;

export class Site {
  readonly folder: string;
  readonly operator: string;
  readonly register: string;
  readonly out: string;
  readonly key: string;
  readonly #path: Paths;

  constructor(path: Paths, folder: string, operator: string) {
    this.#path = path;
    [this.folder, this.operator] = [folder, operator];
    this.register = join(folder, 'register.sqlite');
    [this.out, this.key] = [join(folder, 'dist'), join(folder, 'log.key')];
  }

  /** The verifier key. */
  get vkey(): string {
    return readFileSync(`${this.key}.pub`, 'utf8').trimEnd();
  }

  /** The content of KEY.last. */
  get last(): string {
    return existsSync(`${this.key}.last`) ? readFileSync(`${this.key}.last`, 'utf8') : '';
  }

  /** The folder of the log. */
  get log(): string {
    return logOf(this.out);
  }

  /** A command with the register, the tree and the operator. */
  run(command: string, ...more: readonly string[]) {
    const args = ['--register', this.register, '--out', this.out, '--operator', this.operator];
    return inProcess(command, ...args, '--accept-removals', '--quiet', ...more);
  }

  /** A command that goes well and says nothing. */
  async succeed(command: string, ...more: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await this.run(command, ...more);
    if (code !== 0 || stdout + stderr !== '') throw new Error(`${command} ended with ${code}: ${stderr}`);
  }

  built(...more: readonly string[]): Promise<void> {
    return this.succeed('build', '--key', this.key, ...more);
  }

  change(sql: string): void {
    changeRegister(this.register, sql);
  }

  /** Builds with another name of a group. */
  next(name: string): Promise<void> {
    this.change(`UPDATE groups SET name = '${name}' WHERE id = 2`);
    return this.built();
  }

  /** The numbers of the signed snapshots, or what is not as the specification says. */
  signed(by = this.vkey): readonly unknown[] {
    const problems = problemsOf(this.out, by);
    return problems.length > 0 ? problems : sequencesOf(this.out);
  }

  /** The code and message of a command that is refused, which leaves everything as it was. */
  async refusal(work: ReturnType<typeof inProcess>): Promise<string> {
    const [tree, before] = [stateOf(this.out), this.last];
    const { code, stderr } = await work;
    const left = existsSync(inState(this.out)) ? leftovers(this.out) : [];
    const touched = [
      ...differing(stateOf(this.out), tree),
      ...left,
      ...(this.last === before ? [] : ['KEY.last']),
    ];
    if (touched.length > 0) throw new Error(`touched ${touched.join(', ')}`);
    return `${code} ${stderr}`;
  }

  /** The same site elsewhere, as a backup has it. */
  copy(): Site {
    const to = this.#path('copy');
    cpSync(this.folder, to, { recursive: true, preserveTimestamps: true });
    return new Site(this.#path, to, this.operator.replace(this.folder, to));
  }
}

/** A site with a key, of which nothing is published yet. @param isDeclared whether the operator declares the log */
export function newSite(path: Paths, isDeclared = false): Site {
  const folder = path('site');
  mkdirSync(folder);
  const site = new Site(path, folder, isDeclared ? join(folder, 'operator.json') : OPERATOR);
  createKey(ORIGIN, site.key);
  writeRegister(site.register, ROWS);
  if (isDeclared) {
    const fields = z.looseObject({}).parse(JSON.parse(readFileSync(OPERATOR, 'utf8')));
    writeFileSync(site.operator, JSON.stringify({ ...fields, log: [site.vkey] }));
  }
  return site;
}
