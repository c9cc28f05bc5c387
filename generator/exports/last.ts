/** What downloads are made from if few records changed: their last version, and the changed records. */
import { OwnFolder } from '../links.js';
import type { Publisher } from '../publish/publisher.js';
import { DATABASE, OTHER_DOCUMENTS, documentsFileOf, exportFile, exportRoute } from '../routes/exports.js';
import type { BulkFile, ExportFormat } from '../routes/exports.js';
import { KINDS, type Document, type Kind } from '../schema/field.js';
import type { DatabaseJob } from './database.js';
import type { DocumentsJob } from './documents.js';
import type { LastFile } from './last-file.js';
import type { Export } from './tables.js';
import type { ExportJob } from './write.js';

/** The published downloads of the previous snapshot. */
export class LastDownloads {
  readonly #publisher: Publisher;
  readonly #code: string;
  readonly #patchesOf: (kind: Kind) => readonly string[] | undefined;

  /**
   * @param code identifies the code that writes
   * @param patchesOf the patches of the fingerprints of a kind's records, if few of them changed
   */
  constructor(publisher: Publisher, code: string, patchesOf: (kind: Kind) => readonly string[] | undefined) {
    this.#publisher = publisher;
    this.#code = code;
    this.#patchesOf = patchesOf;
  }

  /** @param part its name: if the code is another, or it was kept, the index doesn't name it so */
  documents(part: string, kind: Kind, documents: readonly Document[]): DocumentsJob['last'] {
    const patches = this.#patchesOf(kind);
    if (patches === undefined || !this.#isOfPrevious(part)) return undefined;
    const files = documents.map(({ route }) => {
      const file = this.#file(documentsFileOf(route));
      const index = this.#publisher.spec.routes.get(route)?.index;
      return file && index !== undefined ? ([route, { ...file, index }] as const) : undefined;
    });
    const known = files.filter((file) => file !== undefined);
    return known.length < files.length ? undefined : { files: Object.fromEntries(known), patches };
  }

  table({ name, resource }: Export): ExportJob['last'] {
    const patches = this.#patchesOf(resource.kind);
    const file = (format: ExportFormat): LastFile | undefined =>
      this.#file({ route: exportRoute(name, format), file: exportFile(name, format) });
    const [csv, parquet] = [file('csv'), file('parquet')];
    if (!this.#isOfPrevious(name) || patches === undefined) return undefined;
    return csv && parquet && { csv, parquet, patches };
  }

  database(): DatabaseJob['last'] {
    const file = this.#isOfPrevious(DATABASE.name) ? this.#file(DATABASE) : undefined;
    const patches = KINDS.map((kind) => [kind, this.#patchesOf(kind)] as const);
    if (file === undefined || patches.some(([, each]) => each === undefined)) return undefined;
    return { file, patches: patches.map(([kind, each = []]) => [kind, each]) };
  }

  /** With the documents that belong to no record. */
  other(): LastFile | undefined {
    return this.#isOfPrevious(OTHER_DOCUMENTS.name) ? this.#file(OTHER_DOCUMENTS) : undefined;
  }

  #isOfPrevious(part: string): boolean {
    return this.#publisher.index?.exports[part]?.startsWith(this.#code) === true;
  }

  #file({ route, file }: Pick<BulkFile, 'route' | 'file'>): LastFile | undefined {
    const { tree } = this.#publisher;
    const sha256 = this.#publisher.writer.route(route).published(0)?.sha256;
    return sha256 === undefined ? undefined : { file: new OwnFolder(tree.out).pathOf(file), sha256 };
  }
}
