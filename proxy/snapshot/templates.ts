import type { RouteDeclaration } from './snapshot.js';
import { WELL_KNOWN } from './request-target.js';

/** Compiles the templates of a route: texts with parameters in braces. Pure. */

export type ParameterValues = ReadonlyMap<string, string>;
export type Template = (values: ParameterValues) => string;

/** A document by its file, and by its URL as the value of a Link. */
export interface RequiredDocument {
  readonly file: Template;
  readonly link: Template;
}

const PLACEHOLDER = /\{([a-z][a-z_]*)\}/g;
/** A path literal or, without its placeholders, a segment of a file name. */
const SAFE_SEGMENT = /^[A-Za-z0-9_~.-]+$/;

/**
 * Compiles a file template. Parameter values consist of digits, a to f and hyphens, or of plain
 * segments, so this check determines which files can be read: relative, no "..", no dotfile except
 * /.well-known.
 */
export function compileFile(template: string, known: ReadonlySet<string>): Template {
  const plain = template.replaceAll(PLACEHOLDER, (placeholder, name: string) => {
    if (!known.has(name)) throw new Error(`file "${template}": "${placeholder}" is no declared parameter`);
    return '0';
  });
  if (!plain.split('/').every(isSafe)) {
    throw new Error(`file "${template}": expected a relative path of plain segments, none of them hidden`);
  }
  return compileTemplate(template);
}

/**
 * Compiles what a route with `requires` needs to know of the other route.
 *
 * @param name the other route's
 * @throws Error if no route of the table has such documents
 */
export function compileRequired(
  name: string,
  table: readonly RouteDeclaration[],
  known: ReadonlySet<string>,
): RequiredDocument {
  const required = table.find((candidate) => candidate.name === name);
  if (required === undefined || required.requires !== undefined) {
    throw new Error(`requires "${name}": expected a route with documents`);
  }
  const [type = ''] = required.type.split(';', 1);
  const link = compileTemplate(`<${required.path}>; rel="alternate"; type="${type}"`);
  return { file: compileFile(required.file, known), link };
}

export function compileTemplate(template: string): Template {
  if (!template.includes('{')) return () => template;
  return (values) =>
    template.replaceAll(PLACEHOLDER, (placeholder, name: string) => values.get(name) ?? placeholder);
}

/** Whether a segment of a path or file name is plain, and not hidden. */
export function isSafe(segment: string, index: number): boolean {
  return SAFE_SEGMENT.test(segment) && (!segment.startsWith('.') || (index === 0 && segment === WELL_KNOWN));
}
