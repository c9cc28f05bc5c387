/** Paths that people guess, and those that they are looking for. */
import { DOCUMENTATION } from './documentation.js';
import { PATHS } from './paths.js';

/** A path that responds with 308, at no cost for the client. */
interface Redirect {
  readonly path: string;
  readonly to: string;
}

const FIXED: readonly Redirect[] = [
  { path: '/docs', to: PATHS.docs },
  { path: '/openapi.json', to: PATHS.description },
];

/** The parts of the documentation, whose paths are those of their pages, shortened. */
const PARTS = ['reference', 'guides'].map((part) => `${PATHS.docs}/${part}`);

/** @param table the routes of a tree: those of what is not measured are absent */
export const redirectsIn = (
  table: readonly { readonly path: string; readonly absent?: string }[],
): readonly Redirect[] => [
  ...FIXED,
  ...PARTS.flatMap((path) => {
    const pages = DOCUMENTATION.filter((page) => page.path.startsWith(`${path}/`));
    const first = pages.find((page) =>
      table.some((route) => route.path === page.path && route.absent === undefined),
    );
    return first === undefined ? [] : [{ path, to: first.path }];
  }),
];
