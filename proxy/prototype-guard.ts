import type { RequestListener } from 'node:http';

import type { Log } from './follower.js';

/**
 * Whether Express leaves requests and responses what they were, which messages.ts is for. Where it does not (a
 * server made without those classes, a Node that ignores them, another Express), answers are as right as ever, and
 * several times slower: nobody would notice but by this.
 */
export interface PrototypeGuard {
  /** The app, watched with the first request that goes through it. */
  readonly listener: RequestListener;
  /** Undefined before that. */
  readonly isKept: () => boolean | undefined;
}

/**
 * @param app Express sets the prototypes before anything else, and before it returns
 * @param log told once, if they are not kept
 */
export function guardPrototypes(app: RequestListener, log: Log): PrototypeGuard {
  let isKept: boolean | undefined;
  const listener: RequestListener = (request, response) => {
    if (isKept !== undefined) {
      app(request, response);
      return;
    }
    const messages = [request, response];
    const before = messages.map((message): unknown => Object.getPrototypeOf(message));
    app(request, response);
    isKept = messages.every((message, index) => Object.getPrototypeOf(message) === before[index]);
    if (isKept) return;
    log(
      'Express gives each request another prototype, which the proxy tries to spare it: answers are right, but ' +
        'slower than they could be with this version of Node or Express',
    );
  };
  return { listener, isKept: () => isKept };
}
