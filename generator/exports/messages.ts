/** What the main thread and the thread of the exports say to each other. Requests are answered in their order. */
import { z } from 'zod';
import { EXPORT_FORMATS } from '../routes.js';

/** What the thread is started with. */
export const start = z.object({ register: z.string() });

export const request = z.discriminatedUnion('do', [
  /** Begin the read transaction anew. */
  z.object({ do: z.literal('renew') }),
  /** Take over what is not published. */
  z.object({
    do: z.literal('hide'),
    hidden: z.record(z.string(), z.array(z.array(z.unknown()))),
  }),
  /** Write the files of an export below a folder. */
  z.object({ do: z.literal('write'), table: z.string(), folder: z.string() }),
]);
export type Request = z.infer<typeof request>;

const measured = z.object({ bytes: z.int(), sha256: z.string() });

const written = z.object({
  rows: z.int(),
  files: z.record(z.enum(EXPORT_FORMATS.map(({ format }) => format)), measured),
});

export const reply = z.discriminatedUnion('is', [
  /** No answer yet: so many rows more were written. */
  z.object({ is: z.literal('progress'), rows: z.int() }),
  z.object({ is: z.literal('done'), written: written.optional() }),
  /** An expected error. */
  z.object({ is: z.literal('failed'), exitCode: z.int(), message: z.string() }),
]);
export type Reply = z.infer<typeof reply>;
