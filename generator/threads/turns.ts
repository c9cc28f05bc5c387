/** Work that threads share out among themselves: who is free takes the next piece, without asking the main thread. */

/** How many pieces were taken. */
export type Turns = Int32Array<SharedArrayBuffer>;

export const newTurns = (): Turns => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

export const isTurns = (value: unknown): value is Turns =>
  value instanceof Int32Array && value.buffer instanceof SharedArrayBuffer;

/** Performs those pieces that are this thread's: it takes the next only when it is done with the one before. */
export function performed<Piece, Result>(
  turns: Turns,
  pieces: readonly Piece[],
  perform: (piece: Piece) => Result,
): readonly Result[] {
  const results: Result[] = [];
  for (let at = Atomics.add(turns, 0, 1); at < pieces.length; at = Atomics.add(turns, 0, 1)) {
    const piece = pieces[at];
    if (piece !== undefined) results.push(perform(piece));
  }
  return results;
}
