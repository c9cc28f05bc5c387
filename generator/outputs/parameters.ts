/** The parameters of a route, in the index and in snapshot.json. */
import { listed, part, value } from './parts.js';
import type { Part } from './parts.js';
import type { Parameter } from '../routes/index.js';

const bound = (name: 'minimum' | 'maximum' | 'default', example: number, description: string) =>
  part<Parameter>(
    value(name, 'count', example, `${description}; not there for an id.`, { optional: true }),
    (parameter) => (parameter.in === 'query' ? parameter[name] : undefined),
  );

const PARAMETER: readonly Part<Parameter>[] = [
  part(value('name', 'text', 'limit', 'Name, as it stands in the URL.'), ({ name }) => name),
  part(
    value('in', 'enum', 'query', 'Whether it stands in the path or in the query.', {
      values: ['path', 'query'],
    }),
    (parameter) => parameter.in,
  ),
  part(
    value(
      'type',
      'enum',
      'integer',
      'An id, an integer within bounds, or a month (`2026-11`, or a numbered part of one).',
      { values: ['id', 'integer', 'month'] },
    ),
    ({ type }) => type,
  ),
  bound('minimum', 1, 'The lowest value allowed'),
  bound('maximum', 200, 'The highest value allowed'),
  bound('default', 100, 'What leaving it out means'),
  part(value('description', 'text', 'how many groups', 'What it says.'), ({ description }) => description),
];

/** The list of parameters, if there are any. */
export const parameters: Part<{ readonly parameters?: readonly Parameter[] }> = listed(
  'parameters',
  'Its parameters, if it has any.',
  PARAMETER,
  (of) => of.parameters,
  { optional: true },
);
