/** The thread of the exports as the main thread sees it. */
import { Thread } from '../threads/thread.js';
import { asWritten, progressOf } from './messages.js';
import type { WriteRequest } from './messages.js';
import type { Written } from './write.js';

/** A thread that can write exports. */
export interface Writer {
  /** Rows written so far, in all exports. */
  readonly rows: number;
  /** Writes an export's files below a folder, after what was asked before. */
  write(table: string, folder: string): Promise<Written>;
}

export class Exporter implements Writer {
  readonly thread: Thread<WriteRequest>;
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

  async write(table: string, folder: string): Promise<Written> {
    return asWritten(await this.thread.ask({ do: 'write', table, folder }));
  }
}
