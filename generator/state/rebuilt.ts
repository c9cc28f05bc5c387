/** A state made from published files, or with documents marked that are damaged. */
import type { PublishedRoute } from '../tree/published-routes.js';
import { NO_HASH } from '../tree/measure.js';
import { replaceChunks, type Entry } from './documents.js';
import { NOTHING_KNOWN, allowReaders, writeState, type Described } from './schema.js';
import { State, type OwnFile } from './state.js';

/** The snapshot that a state is of. */
interface Snapshot {
  readonly tree: { readonly id: string };
  readonly sequence: number;
}

export class RebuiltState extends State {
  #position = 0;

  /** Opens a state to mark documents in it, or to make it from published files if there is none. */
  static override open(file: string): RebuiltState {
    const state = new RebuiltState(writeState(file), file);
    state.run(() => {
      allowReaders(state.database);
      state.database.exec('BEGIN IMMEDIATE');
    });
    return state;
  }

  /** @returns adds a document of the route; keys ascend */
  addRoute(id: number, route: PublishedRoute, pages: readonly string[]): (entry: Entry) => void {
    this.putRoute({ id, route, pages }, this.#position);
    this.#position += 1;
    const add = this.database.prepare('INSERT INTO document VALUES (?, ?, ?, ?)');
    return ({ key, bytes, hash }) => void this.run(() => add.run(id, key, bytes, hash));
  }

  /**
   * Completes a state made from published files.
   * @returns the digest of these
   */
  finish(snapshot: Snapshot | undefined, known: Partial<Described>, own: readonly OwnFile[]): string {
    for (const { id, route } of this.routes) replaceChunks(this.database, id, route);
    const { digest } = this;
    const described = JSON.stringify({ ...NOTHING_KNOWN, ...known });
    // Operators get lists of everything, since what changed until now is not known any more.
    this.change(
      `INSERT INTO snapshot VALUES (1, ?, ?, ?, 'published', 'no', NULL, ?, '')`,
      snapshot?.tree.id ?? '',
      snapshot?.sequence ?? 0,
      digest,
      described,
    );
    this.insertOwnFiles(1, own);
    this.seal(1);
    this.run(() => this.database.exec('COMMIT'));
    return digest;
  }

  /** Marks a document as damaged: the next build replaces it. @returns false if the snapshot has no such route */
  mark(name: string, key: number): boolean {
    const route = this.routeNamed(name);
    if (route !== undefined)
      this.change('UPDATE document SET hash = ? WHERE route = ? AND key = ?', NO_HASH, route.id, key);
    return route !== undefined;
  }

  /** Completes the marks. @param described what is known of the snapshot from now on */
  finishMarks(described: Described): void {
    for (const { id, route } of this.routes) replaceChunks(this.database, id, route);
    this.change('DELETE FROM fingerprint');
    const number = this.newest?.number ?? 0;
    const marked = JSON.stringify({ ...described, marked: this.digest });
    this.change('UPDATE snapshot SET described = ? WHERE number = ?', marked, number);
    this.seal(number);
    this.run(() => this.database.exec('COMMIT'));
  }
}
