/** One file of the tree to be: which route answers with it, for which parameter, and its content. */
export interface Output {
  readonly route: string;
  /** The value of the route's parameter; 0 for a route without one. Ascending within a route. */
  readonly key: number;
  readonly body: string;
}

/** A document that is made of the same as that of the last snapshot: it stays as it is, and was not rendered. */
export type Kept = Omit<Output, 'body'> & { readonly body?: never };

/** Whether a document was made of the same (a SHA-256 of all that goes into it) for the last snapshot. */
export type IsSame = (route: string, key: number, inputs: Buffer) => boolean;
