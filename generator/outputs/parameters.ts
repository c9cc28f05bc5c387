/** The parameters of a route, in the index and in snapshot.json. */
import { listed, part, value, type Part } from './parts.js';
import type { Parameter } from '../routes/route.js';

const bound = (name: 'minimum' | 'maximum' | 'default', example: number, description: string) =>
  part<Parameter>(
    value(name, 'count', example, `${description}; absent for a path parameter.`, { optional: true }),
    (parameter) => (parameter.in === 'query' ? parameter[name] : undefined),
  );

const ANYWHERE = {
  values: ['id', 'integer', 'prefix', 'asset'],
  words: 'An id, an integer within bounds, lower-case hexadecimal digits, or the name of an asset.',
};
const SIGNED = {
  values: [...ANYWHERE.values, 'tree', 'path'],
  words:
    'An id, an integer within bounds, lower-case hexadecimal digits, the name of an asset, 16 hexadecimal digits (tree), or all further segments of the path.',
};

const parameterParts = ({ values, words }: typeof ANYWHERE): readonly Part<Parameter>[] => [
  part(value('name', 'text', 'limit', 'Name, as used in the URL.'), ({ name }) => name),
  part(
    value('in', 'enum', 'query', 'Whether it is part of the path or of the query.', {
      values: ['path', 'query'],
    }),
    (parameter) => parameter.in,
  ),
  part(value('type', 'enum', 'integer', words, { values }), ({ type }) => type),
  bound('minimum', 1, 'Lowest value allowed'),
  bound('maximum', 200, 'Highest value allowed'),
  bound('default', 100, 'Value used if it is left out'),
  part(
    value('description', 'text', 'maximum number of groups', 'What it means.'),
    ({ description }) => description,
  ),
];

/**
 * The list of parameters, if there are any.
 * @param isSigned whether they may be those of the signed log
 */
export const parameters = (isSigned: boolean): Part<{ readonly parameters?: readonly Parameter[] }> =>
  listed(
    'parameters',
    'Its parameters, if it has any.',
    parameterParts(isSigned ? SIGNED : ANYWHERE),
    (of) => of.parameters,
    { optional: true },
  );
