/** One file of the tree to be: which route answers with it, for which parameter, and its content. */
export interface Output {
  readonly route: string;
  /** The value of the route's parameter; 0 for a route without one. Ascending within a route. */
  readonly key: number;
  readonly body: string;
}
