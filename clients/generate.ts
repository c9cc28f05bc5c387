/** Writes `typescript/api.ts`, the types of all documents, from the OpenAPI description: `npm run client`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import openapiTypescript from 'openapi-typescript';
import type { SchemaObject } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import { buildConfig } from '../generator/config/config.js';
import { Examples } from '../generator/outputs/openapi/examples.js';
import { openapi } from '../generator/outputs/openapi/openapi.js';
import { PROJECT_FOLDER } from '../generator/package.js';
import { ROUTES } from '../generator/routes/index.js';

/** The file that is written. */
export const TYPES_FILE = join(PROJECT_FOLDER, 'clients/typescript/api.ts');

const HEADER =
  '/** The documents of the service. Made by `npm run client` from the OpenAPI description. */\n\n';

/** What the types are made of: successful responses, and parameters other than headers. */
const descriptionShape = z.object({
  openapi: z.string(),
  info: z.object({ title: z.string(), version: z.string() }),
  paths: z.record(
    z.string(),
    z.object({
      get: z.object({
        summary: z.string(),
        parameters: z.array(z.looseObject({})).transform((all) => all.filter((each) => 'name' in each)),
        responses: z.object({ 200: z.object({ content: z.unknown() }) }),
      }),
    }),
  ),
  components: z.object({ schemas: z.record(z.string(), z.looseObject({})) }),
});

/** Words and any text, so that editors propose the words: TypeScript reduces `'a' | string` to `string`. */
function openWords(schema: SchemaObject): string | undefined {
  const { data } = z
    .object({ anyOf: z.tuple([z.object({ enum: z.array(z.string()) }), z.object({ type: z.unknown() })]) })
    .safeParse(schema);
  if (data === undefined) return undefined;
  const [{ enum: words }, { type }] = data.anyOf;
  const open = [...words.map((word) => JSON.stringify(word)), '(string & {})'];
  return [...open, ...(Array.isArray(type) ? ['null'] : [])].join(' | ');
}

/** The content of `api.ts`. */
export async function clientTypes(): Promise<string> {
  const [output] = openapi(buildConfig({}), ROUTES, new Examples(ROUTES), () => undefined);
  const description = descriptionShape.parse(JSON.parse(output?.body.toString() ?? ''));
  const types = await openapiTypescript(Readable.from([JSON.stringify(description)]), {
    commentHeader: HEADER,
    immutableTypes: true,
    transform: openWords,
  });
  return format(types, { ...(await resolveConfig(TYPES_FILE)), parser: 'typescript' });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(TYPES_FILE, await clientTypes());
