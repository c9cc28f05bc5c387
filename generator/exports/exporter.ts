/** The thread of the exports as the main thread sees it. */
import { Thread } from '../threads/thread.js';
import { asWritten, progressOf } from './messages.js';
import type { WriteRequest } from './messages.js';
import type { Written } from './write.js';

export class Exporter {
  readonly thread: Thread<WriteRequest>;
  /** Rows written so far, in all exports. */
  rows = 0;

  /**
   * Starts the thread.
   * @param module worker.js
   */
  constructor(module: URL, register: string) {
    this.thread = new Thread(module, register, (said) => {
      this.rows += progressOf(said);
    });
  }

  /** Writes an export's files below a folder, after those asked for before. */
  async write(table: string, folder: string): Promise<Written> {
    return asWritten(await this.thread.ask({ do: 'write', table, folder }));
  }
}
