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
 * Requests and responses that have the prototypes that Express gives them from the beginning.
 *
 * Express gives each request and each response another prototype (lib/application.js, handle). V8 keeps no optimized
 * code for an object whose prototype was changed, so everything after that, in Node as well, is three times slower.
 * With classes whose prototypes Express gives anyway, it changes nothing.
 */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse<IncomingMessage>;
}

/** Nothing here uses response.locals; Express would make one for each. */
const NO_LOCALS = Object.freeze({});

/** Makes the classes and has this app use their prototypes. */
export function createMessageClasses(app: Express): MessageClasses {
  class Request extends IncomingMessage {
    // What is set on the way has room from the beginning, so that a request keeps its shape.
    override context: RequestContext | undefined = undefined;
    override rateLimit: RateLimitInfo | undefined = undefined;
    res = undefined;
    originalUrl = '';
    baseUrl = '';
    params = undefined;
    next = undefined;
    /** What express-rate-limit asks of each request, for its log; Express would read the headers for it. */
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

/** As Express does it (lib/express.js): above the prototype of all apps, with a way back to this one. */
function adopt(app: Express, name: 'request' | 'response', prototype: object, parent: object): void {
  Object.setPrototypeOf(prototype, parent);
  const property = { configurable: true, enumerable: true, writable: true };
  Object.defineProperty(prototype, 'app', { ...property, value: app });
  Object.defineProperty(app, name, { ...property, value: prototype });
}
