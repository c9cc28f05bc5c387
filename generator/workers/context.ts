/** What a job of a thread works with. */
import type { Register } from '../register/database.js';

export interface Context {
  readonly register: Register;
  /** Says how many steps were done since the last time. */
  readonly advance: (steps: number) => void;
}
