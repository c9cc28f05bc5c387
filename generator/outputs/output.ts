/** One file to publish: its route, the value of the route's parameter, and the content. */
export interface Output {
  readonly route: string;
  /** The value of the route's parameter; 0 for a route without one. Ascending within a route. */
  readonly key: number;
  readonly body: string;
}

/** An output that may be no text. */
export type FileOutput = Omit<Output, 'body'> & { readonly body: string | Buffer };

/** A document that is kept without being rendered, since its inputs are unchanged. */
export type Kept = Omit<Output, 'body'> & { readonly body?: never };

/** Whether the SHA-256 of a document's inputs is the same as in the previous snapshot. */
export type IsSame = (route: string, key: number, inputs: Buffer) => boolean;
