/** What a job works with. */
import type { Register } from './database.js';

export interface Context {
  readonly register: Register;
  /** Reports the number of steps done since the last call. */
  readonly advance: (steps: number) => void;
}
