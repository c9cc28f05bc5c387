/** The parameters of a route, in the index and in snapshot.json. */
import { listed, part, value, type Part } from './parts.js';
import type { Parameter } from '../routes/route.js';

const bound = (name: 'minimum' | 'maximum' | 'default', example: number, description: string) =>
  part<Parameter>(
    value(name, 'count', example, `${description}; absent for a path parameter.`, { optional: true }),
    (parameter) => (parameter.in === 'query' ? parameter[name] : undefined),
  );

const PARTS: readonly Part<Parameter>[] = [
  part(value('name', 'text', 'limit', 'Name, as used in the URL.'), ({ name }) => name),
  part(
    value('in', 'enum', 'query', 'Whether it is part of the path or of the query.', {
      values: ['path', 'query'],
    }),
    (parameter) => parameter.in,
  ),
  part(
    value(
      'type',
      'enum',
      'integer',
      'An id, an integer within bounds, lower-case hexadecimal digits, an id of the platform, or the name of an asset.',
      { values: ['id', 'integer', 'prefix', 'platform_id', 'asset'] },
    ),
    ({ type }) => type,
  ),
  bound('minimum', 1, 'Lowest value allowed'),
  bound('maximum', 200, 'Highest value allowed'),
  bound('default', 100, 'Value used if it is left out'),
  part(
    value('description', 'text', 'maximum number of groups', 'What it means.'),
    ({ description }) => description,
  ),
];

/** The list of parameters, if there are any. */
export const PARAMETERS: Part<{ readonly parameters?: readonly Parameter[] }> = listed(
  'parameters',
  'Its parameters, if it has any.',
  PARTS,
  (of) => of.parameters,
  { optional: true },
);
