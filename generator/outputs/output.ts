/** One file to publish: its route, the value of the route's parameter, and the content. */
export interface Output {
  readonly route: string;
  /** The value of the route's parameter; 0 for a route without one. Ascending within a route. */
  readonly key: number;
  readonly body: string;
  /** The text of a further name of a document (see publish/lists.ts). */
  readonly alias?: string;
}

/** An output that may be no text. */
export type FileOutput = Omit<Output, 'body'> & { readonly body: string | Buffer };
