/** Keys from `low` to `high`, inclusive. */
export interface KeyRange {
  readonly low: number;
  readonly high: number;
}
