/** What a suite of the bench is: what it measures, and how a run of it is made. */

/** What one run of a contender gave: values by name, such as `{ rps: 40123, p99: 2.1 }`. */
export type Sample = Readonly<Record<string, number>>;

/** A program under measurement. Each call is one run, and gives the same names each time. */
export interface Contender {
  readonly name: string;
  readonly run: () => Promise<Sample>;
}

/** One row of the table: a value of ours against a value of a peer in the same run, or against a number. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** `CONTENDER/VALUE`, as in `proxy/rps`. */
  readonly ours: string;
  /** The same of a peer, or a bound in the figure's unit; undefined where there is nothing to hold it against. */
  readonly peer?: string | number;
  /** What ours ÷ peer has to reach (`higher`) or must not exceed (`lower`); undefined for a mark to look at. */
  readonly target?: number;
  readonly better: 'higher' | 'lower';
}

/** A figure against a peer or a bound, with what the ratio must reach, if anything. */
export const figure = (
  name: string,
  unit: string,
  ours: string,
  better: Figure['better'],
  peer?: string | number,
  target?: number,
): Figure => ({
  name,
  unit,
  ours,
  better,
  ...(peer !== undefined && { peer }),
  ...(target !== undefined && { target }),
});

export interface Suite {
  readonly name: string;
  readonly description: string;
  readonly figures: readonly Figure[];
  /** Programs that have to be there, as programs.ts knows them. */
  readonly programs: readonly string[];
  /** Makes all that the runs need. */
  readonly prepare: (context: Context) => Promise<Prepared>;
}

export interface Prepared {
  /** In the order in which they take turns. */
  readonly contenders: readonly Contender[];
  /** What a reader has to know of this run: sizes, counts, settings. */
  readonly notes: readonly string[];
  /** Ends what was started and removes what was made. */
  readonly close: () => Promise<void>;
}

/** What the command line gives to all suites. */
export interface Context {
  /** A folder of this suite's own, empty. */
  readonly folder: string;
  /** A register to measure with, and the same with some changes; undefined for a fictional one. */
  readonly register: string | undefined;
  readonly registerNext: string | undefined;
  /** A published tree to measure with. */
  readonly tree: string | undefined;
  /** One line of progress. */
  readonly say: (line: string) => void;
}
