import express, { type Express } from 'express';
import type { RateLimitInfo } from 'express-rate-limit';
import { IncomingMessage, ServerResponse } from 'node:http';

import type { RequestContext } from './context.js';

declare module 'http' {
  interface IncomingMessage {
    /** Set by express-rate-limit. */
    rateLimit?: RateLimitInfo | undefined;
  }
}

/**
 * Requests and responses that have the prototypes assigned by Express from the start.
 *
 * Express changes the prototype of each request and response (lib/application.js, handle). V8
 * discards optimized code for an object whose prototype changed, so all code after that, including
 * Node's own, is three times slower. With these classes the assignment changes nothing.
 */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse<IncomingMessage>;
}

/** response.locals is not used; Express would create one for each response. */
const NO_LOCALS = Object.freeze({});

/** Creates the classes, and makes this app use their prototypes. */
export function createMessageClasses(app: Express): MessageClasses {
  class Request extends IncomingMessage {
    // Properties that are set later exist from the start, so that the hidden class stays the same.
    override context: RequestContext | undefined = undefined;
    override rateLimit: RateLimitInfo | undefined = undefined;
    res = undefined;
    originalUrl = '';
    baseUrl = '';
    params = undefined;
    next = undefined;
    /** express-rate-limit reads this for its log; Express would parse the headers. */
    get ip(): string | undefined {
      return this.context?.client;
    }
  }
  class Response extends ServerResponse {
    locals = NO_LOCALS;
  }
  adopt(app, 'request', Request.prototype, express.request);
  adopt(app, 'response', Response.prototype, express.response);
  return { IncomingMessage: Request, ServerResponse: Response };
}

/** As in Express (lib/express.js): inherits from the common prototype, and refers to this app. */
function adopt(app: Express, name: 'request' | 'response', prototype: object, parent: object): void {
  Object.setPrototypeOf(prototype, parent);
  const property = { configurable: true, enumerable: true, writable: true };
  Object.defineProperty(prototype, 'app', { ...property, value: app });
  Object.defineProperty(app, name, { ...property, value: prototype });
}
