/** Signed trees in memory, as the specifications have them, and proofs from them. */
import {
  hashed,
  type ProofRequest,
  type ProofSource,
} from '../../../../generator/programs/log/tlog/prove.js';
import { sha256 } from '../../publish/support.js';
import { newKey } from './naive.js';
import { ORIGIN, checkpointOf, entryOf, filesOfLog } from './signed.js';

export const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

export const key = newKey(ORIGIN, 1);
export const TREE = '0123456789abcdef';
export const LOG = `/log/${TREE}/`;

/** So many earlier snapshots: with 300, the log has two levels of tiles. */
export const snapshotsBefore = (count: number): string[] =>
  range(count).map((sequence) =>
    entryOf(TREE, sequence, null, 0, sha256(String(sequence)), sha256('snapshot.json')),
  );

const id = { name: 'id', in: 'path' as const };
const ROUTES = [
  { name: 'stats', path: '/stats', file: 'stats.json' },
  { name: 'group', path: '/group/{id}', file: 'group/{id}.json', parameters: [id] },
  { name: 'none', path: '/none/{id}', file: 'none/{id}.json', parameters: [id] },
];

export const STATS: ProofRequest = { path: '/stats', route: 'stats' };
export const group = (value: number): ProofRequest => ({
  path: `/group/${value}`,
  route: 'group',
  key: { value, parse: Number },
});

type Contents = Readonly<Record<string, string>>;

/** Files by URL path, and what was asked for. */
export class Memory implements ProofSource {
  readonly files = new Map<string, Buffer>();
  readonly asked: string[] = [];
  readonly waits: number[] = [];
  /** What happens in each of the pauses. */
  duringWait: () => void = () => undefined;

  /** @param sequence of the snapshot that has these documents */
  constructor(contents: Contents, sequence = 4) {
    this.publish(contents, sequence);
  }

  publish(contents: Contents, sequence: number): void {
    const documents = new Map(Object.entries(contents).map(([url, content]) => [url, sha256(content)]));
    const manifest = { tree: { id: TREE }, sequence, as_of: null, routes: ROUTES, documents };
    const { entries, files } = filesOfLog(manifest, snapshotsBefore(sequence - 1));
    files.set('checkpoint', key.note(checkpointOf(ORIGIN, entries)));
    for (const [name, content] of files) this.files.set(LOG + name, Buffer.from(content));
    const log = { path: `/log/${TREE}`, origin: ORIGIN, keys: [key.vkey] };
    this.files.set('/snapshot.json', Buffer.from(JSON.stringify({ sequence, log })));
    for (const [url, content] of Object.entries(contents)) this.files.set(url, Buffer.from(content));
  }

  get = async (file: string) => {
    this.asked.push(file);
    return this.files.get(file);
  };
  document = async (file: string) => {
    const content = await this.get(file);
    return content && hashed(content);
  };
  wait = async (ms: number) => {
    this.waits.push(ms);
    this.duringWait();
  };
}
