/** What others ask of the state as it was committed last. */
import { unlessFailure } from '../base/errors.js';
import { isDamagedState } from './schema.js';
import { State } from './state.js';

/** Where the state of a tree is. */
interface StateFile {
  readonly database: string;
}

/** Does something with the state as it was committed last; undefined if there is none, or it is damaged. */
export function withPublished<T>({ database }: StateFile, read: (state: State) => T): T | undefined {
  try {
    using state = State.read(database);
    return state && read(state);
  } catch (error) {
    if (isDamagedState(error)) return undefined;
    throw error;
  }
}

/** Whether a commit was interrupted, or is under way. */
export const isCommitting = (tree: StateFile): boolean =>
  withPublished(tree, ({ newest }) => newest !== undefined && newest.stage !== 'published') ?? false;

/** Whether the state is undamaged, as far as that is seen without reading all of it, and of a digest. */
export const isSound = (tree: StateFile, digest?: string): boolean =>
  withPublished(tree, (state) => state.isSound(digest)) ?? false;

/** Makes the next process that opens the tree rebuild its state. Damage may keep that from being written, and is seen then. */
export function distrustState({ database }: StateFile): void {
  unlessFailure(() => {
    using state = State.open(database);
    state.distrust();
  });
}
