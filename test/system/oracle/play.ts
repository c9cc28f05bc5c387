/**
 * The oracle: whatever becomes of a register, with whatever options, a build that follows another
 * gives the tree of a build from nothing, byte for byte, the bundles of changes lead there, and `verify` finds nothing.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { writeSample } from '../../../data/sample.js';
import { build } from '../../../generator/pipeline/build.js';
import { buildConfig } from '../../../generator/config/config.js';
import { Failure } from '../../../generator/base/errors.js';
import { Tree } from '../../../generator/tree/tree.js';
import { verify } from '../../../generator/programs/verify/verify.js';
import { openDatabase } from '../../../generator/base/sqlite/sqlite.js';
import { OPERATOR, effectsAt, quiet } from '../../support/build.js';
import { bundleOf, contentOf, hashesOf, indexOf, mirrorOf, sha256 } from '../../support/published.js';
import { stateOf } from '../../support/state.js';
import { differing, isOfTheBuild, removeTree, speaksOfDownloads } from '../../support/tree.js';
import { EDITS, type Choice } from './edits.js';

/** What happens between two comparisons. */
export interface Step {
  readonly edits: readonly (readonly [what: string, choice: Choice])[];
  readonly keepDownloads: boolean;
  readonly skipInvalid: boolean;
  /** Another operator is another text in most documents. */
  readonly operator: number;
}

export interface History {
  readonly records: number;
  readonly seed: number;
  readonly steps: readonly Step[];
}

const number = fc.nat(1_000_000);
const choice = fc.record({ a: number, b: number, c: number });
const what = fc.constantFrom(...Object.keys(EDITS));

const step: fc.Arbitrary<Step> = fc.record({
  edits: fc.array(fc.tuple(what, choice), { maxLength: 4 }),
  keepDownloads: fc.boolean(),
  skipInvalid: fc.boolean(),
  operator: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
});

export const histories: fc.Arbitrary<History> = fc.record({
  records: fc.constantFrom(0, 40, 150),
  seed: fc.nat(1_000),
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
});

const BUILT_AT = '2027-01-02T03:04:05Z';

/**
 * Plays a history in a folder.
 * @returns what differs after which step; undefined where the oracle is right
 */
export async function play(folder: string, { records, seed, steps }: History): Promise<string | undefined> {
  removeTree(folder);
  const paths = {
    register: `${folder}-register.sqlite`,
    out: folder,
    fresh: `${folder}-fresh`,
    reader: new Reader(folder),
  };
  for (const file of [paths.register, `${paths.register}-wal`, `${paths.register}-shm`])
    rmSync(file, { force: true });
  await writeSample({ file: paths.register, records, seed });
  for (const [index, taken] of steps.entries()) {
    for (const [edit, chosen] of taken.edits) apply(paths.register, edit, chosen);
    const wrong = await compare(paths, taken);
    if (wrong !== undefined) return `after step ${index + 1}: ${wrong}`;
  }
  return undefined;
}

function apply(register: string, edit: string, chosen: Choice): void {
  const sql = EDITS[edit]?.(chosen) ?? '';
  const database = openDatabase(register);
  try {
    database.pragma('synchronous = OFF');
    database.exec(sql);
  } catch (error) {
    throw new Error(`${edit} ${JSON.stringify(chosen)}: ${String(error)}\n${sql}`, { cause: error });
  } finally {
    database.close();
  }
}

interface Paths {
  readonly register: string;
  readonly out: string;
  readonly fresh: string;
  readonly reader: Reader;
}

/** A reader who takes the bundles of changes from one snapshot to the next. */
class Reader {
  readonly #out: string;
  #documents = new Map<string, string>();
  #sequence = 0;

  constructor(out: string) {
    this.#out = out;
  }

  /** Follows what was published since. @returns where the bundles lead elsewhere */
  follow(): string | undefined {
    const { sequence, oldest } = indexOf(this.#out);
    const now = mirrorOf(this.#out);
    if (this.#sequence >= oldest)
      for (let next = this.#sequence + 1; next <= sequence; next += 1) this.#apply(next);
    else this.#documents = now;
    this.#sequence = sequence;
    return inWords(differing(Object.fromEntries(this.#documents), Object.fromEntries(now)));
  }

  #apply(sequence: number): void {
    const [, ...lines] = bundleOf(this.#out, sequence);
    for (const line of lines) {
      if (isOfTheBuild(line.file)) continue;
      if ('deleted' in line) this.#documents.delete(line.path);
      else this.#documents.set(line.path, line.body === undefined ? line.sha256 : sha256(line.body));
    }
  }
}

async function compare({ register, out, fresh, reader }: Paths, taken: Step): Promise<string | undefined> {
  const { skipInvalid, keepDownloads } = taken;
  const operator = taken.operator === 0 ? OPERATOR : anotherOperator(out);
  const config = (to: string) =>
    buildConfig({
      register,
      out: to,
      operator,
      skipInvalid,
      acceptRemovals: true,
      acceptRepublished: true,
      acceptRenumbered: true,
    });
  const follow = () => build({ ...config(out), keepDownloads }, effectsAt(BUILT_AT));
  removeTree(fresh);
  const anew = await outcomeOf(() => build(config(fresh), effectsAt(BUILT_AT)));
  const content = (tree: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(contentOf(tree)).filter(([file]) => !keepDownloads || !speaksOfDownloads(file)),
    );
  const before = hashesOf(out);
  const followed = await outcomeOf(follow);
  if (followed !== anew) return `one build says "${followed}", the other "${anew}"`;
  if (followed !== PUBLISHED) return inWords(differing(hashesOf(out), before));
  const { report } = await verify(new Tree(out), quiet());
  if (report.total > 0) return report.damage.map(({ file, what }) => `${file} is ${what}`).join(', ');
  const [followedState, freshState] = [out, fresh].map(stateOf);
  if (!isDeepStrictEqual(followedState?.['counts'], freshState?.['counts']))
    return 'other counts of the register';
  return inWords(differing(content(out), content(fresh))) ?? reader.follow();
}

const PUBLISHED = 'published';

async function outcomeOf(work: () => ReturnType<typeof build>): Promise<string> {
  try {
    const result = await work();
    return result.published ? PUBLISHED : `refused: ${JSON.stringify(result.report)}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `failed: ${error.message.replaceAll(/"[^"]*"/g, '…')}`;
  }
}

function anotherOperator(out: string): string {
  const file = `${out}-operator.json`;
  writeFileSync(file, readFileSync(OPERATOR, 'utf8').replace(/"name": "[^"]*"/, '"name": "Another"'));
  return file;
}

const inWords = (differences: readonly string[]): string | undefined =>
  differences.length === 0 ? undefined : differences.join(', ');
