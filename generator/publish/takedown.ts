/** Takedowns: which removals a withheld record explains, and whether replaced files may be kept. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readText } from '../files.js';
import type { WithheldMarks } from '../tree/index-json.js';
import type { Tree } from '../tree/tree.js';
import type { StagePaths } from './stage.js';

export interface Withheld {
  /** The keys of withheld records, by route of their documents. */
  readonly keys: ReadonlyMap<string, ReadonlySet<number>>;
  readonly marks: WithheldMarks;
}

export class Takedown {
  /** What was withheld in the previous snapshot, if known. */
  readonly before: WithheldMarks | undefined;
  /** Set before the plan; undefined if the list is unchanged, as in a rollback. */
  withheld: Withheld | undefined;

  constructor(before: WithheldMarks | undefined) {
    this.before = before;
  }

  /** Whether anything is newly withheld, and so may be in the previous snapshot. */
  get isOne(): boolean {
    const known = new Set([...(this.before?.records ?? []), ...(this.before?.names ?? [])]);
    const { records = [], names = [] } = this.withheld?.marks ?? {};
    return [...records, ...names].some((mark) => !known.has(mark));
  }

  /** For the next index. */
  get described(): { readonly withheld?: WithheldMarks } {
    const withheld = this.withheld?.marks ?? this.before;
    return withheld === undefined ? {} : { withheld };
  }
}

const TAKEN_DOWN = 'taken-down';

/** Why there is no previous snapshot to roll back to; undefined if nothing was withheld. */
export const takenDown = ({ previous }: Tree): string | undefined => readText(join(previous, TAKEN_DOWN));

/** Stages what takes the place of the previous snapshot. @param why there is none to go back to */
export function stageWithout({ withoutPrevious }: StagePaths, why: string): void {
  mkdirSync(withoutPrevious);
  writeFileSync(join(withoutPrevious, TAKEN_DOWN), why);
}

/** The same after a takedown: a rollback would publish a withheld record. */
export function stageTakedown(paths: StagePaths, { before }: Takedown): void {
  // If the state was lost, so was the list of what was withheld before.
  const verb = before === undefined ? 'may have been' : 'was';
  stageWithout(paths, `something ${verb} withheld since, which going back would publish again`);
}
