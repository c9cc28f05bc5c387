/** What the files of the exports are made of: where it is the same, and nothing changed in the register, so are they. */
import { EXPORT_FORMATS, exportRoute } from '../export-routes.js';
import type { Makings } from '../publish/inputs.js';
import { EXPORTS } from './tables.js';

/** What the files of the exports are made of, besides what the documents say: another code may write it in another way. */
export const makings = (code: string): Makings =>
  new Map(
    EXPORTS.flatMap(({ name }) =>
      EXPORT_FORMATS.map(({ format }) => [exportRoute(name, format), code] as const),
    ),
  );
