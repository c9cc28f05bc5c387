/** The possible responses of each endpoint to GET. HEAD has the same headers and no body. */
import type { Route } from '../../routes/route.js';
import { PROBLEMS, type ProblemCode } from './problems.js';

export interface Answer {
  readonly status: number;
  readonly description: string;
  /** The errors with this status; empty if it is not an error. */
  readonly problems: readonly ProblemCode[];
}

const WHOLE: Answer = { status: 200, description: 'The document.', problems: [] };
const PART: Answer = {
  status: 206,
  description: 'The part of the document that Range asks for.',
  problems: [],
};
const UNCHANGED: Answer = { status: 304, description: 'The client’s copy is still current.', problems: [] };

/**
 * Whether ranges are described: every file has them, but with a 206 described, generated clients would
 * take any document for either itself or bytes.
 */
export const isRanged = ({ bucket }: Pick<Route, 'bucket'>): boolean => bucket === 'download';

/** Errors that are possible for any URL of the service. */
const ANYWHERE: readonly ProblemCode[] = ['precondition_failed', 'rate_limited', 'internal', 'no_snapshot'];

/** Errors of paths that clients construct. */
const OF_PATHS: readonly ProblemCode[] = ['invalid_path', 'not_found', 'uri_too_long'];

/** The errors that are possible for GET of a URL of this route. */
export function problemsOf(route: Pick<Route, 'bucket' | 'parameters'>): readonly ProblemCode[] {
  const { parameters = [] } = route;
  const possible = new Set<ProblemCode>(ANYWHERE);
  if (isRanged(route)) possible.add('range_not_satisfiable');
  for (const parameter of parameters) {
    if (parameter.type === 'id' || parameter.type === 'platform_id')
      for (const code of ['invalid_id', ...OF_PATHS] as const) possible.add(code);
    else if (parameter.type === 'prefix')
      for (const code of ['invalid_prefix', ...OF_PATHS] as const) possible.add(code);
    // The router matches only names of assets, so anything else is not found.
    else if (parameter.in === 'path') possible.add('not_found');
    else possible.add('invalid_limit');
  }
  return PROBLEMS.map(({ code }) => code).filter((code) => possible.has(code));
}

/** Every response to GET of a URL of this route, by status. */
export function answersOf(route: Pick<Route, 'bucket' | 'parameters'>): readonly Answer[] {
  const codes = problemsOf(route);
  const statuses = [...new Set(PROBLEMS.map(({ status }) => status))];
  const errors = statuses.map((status): Answer => {
    const problems = PROBLEMS.filter((problem) => problem.status === status && codes.includes(problem.code));
    return {
      status,
      description: problems.map(({ title }) => `${title}.`).join(' '),
      problems: problems.map(({ code }) => code),
    };
  });
  const content = isRanged(route) ? [WHOLE, PART, UNCHANGED] : [WHOLE, UNCHANGED];
  return [...content, ...errors.filter(({ problems }) => problems.length > 0)];
}
