/** Work that threads share out among themselves: who is free takes the next piece, without asking the main thread. */

/** How many pieces were taken. */
export type Turns = Int32Array<SharedArrayBuffer>;

export const newTurns = (): Turns => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

export const isTurns = (value: unknown): value is Turns =>
  value instanceof Int32Array && value.buffer instanceof SharedArrayBuffer;

/** The pieces that are this thread's, each taken when the one before is done. */
export function* taken<Piece>(turns: Turns, pieces: readonly Piece[]): Generator<Piece, void, undefined> {
  for (let at = Atomics.add(turns, 0, 1); at < pieces.length; at = Atomics.add(turns, 0, 1)) {
    const piece = pieces[at];
    if (piece !== undefined) yield piece;
  }
}
