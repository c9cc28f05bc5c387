/** The lines of the text whose hash is the digest. Browsers use this file too. */

/** One of them: what is published at a route. */
export interface RouteHead {
  readonly name: string;
  /** Number of documents. */
  readonly count: number;
  /** The head over the route's chunks, in base64. */
  readonly root: string;
}

export const routeLine = ({ name, count, root }: RouteHead): string => `${name} ${count} ${root}\n`;
