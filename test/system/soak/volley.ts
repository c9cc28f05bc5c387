import { attack, type HostileRequest } from './session.js';
import type { HostileTree } from './tree.js';

/** Many hostile requests, some at a time. */

export interface Volley {
  /** How many requests of each kind came to which statuses; 0 for no answer. */
  readonly statuses: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** What went wrong, with the request. */
  readonly faults: readonly string[];
}

const AT_ONCE = 64;

export async function volley(
  port: number,
  tree: HostileTree,
  count: number,
  requestAt: (index: number) => HostileRequest,
): Promise<Volley> {
  const statuses = new Map<string, Map<number, number>>();
  const faults: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      const request = requestAt(index);
      const { answers, fault } = await attack(port, request, tree);
      const ofKind = statuses.get(request.kind) ?? new Map<number, number>();
      statuses.set(request.kind, ofKind);
      const [status = 0] = answers.map((answer) => answer.status);
      ofKind.set(status, (ofKind.get(status) ?? 0) + 1);
      if (fault !== undefined) {
        const sent = Buffer.concat(request.packets).toString('latin1');
        faults.push(`${index} (${request.kind}): ${fault} to ${JSON.stringify(sent.slice(0, 500))}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { statuses, faults };
}
