/** Reads the sources of this project, and what each of them imports. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { PROJECT } from './project.js';

export interface Source {
  readonly file: string;
  readonly lines: number;
  /** Without comments. */
  readonly code: string;
  /** Imported files of this project, as paths from its root. */
  readonly imports: readonly string[];
}

function source(file: string): Source {
  const text = readFileSync(join(PROJECT, file), 'utf8');
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const specifiers = [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map(
    ([, specifier]) => specifier ?? '',
  );
  const imports = specifiers
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => slashed(relative(PROJECT, join(PROJECT, dirname(file), specifier))));
  return { file, lines: text.split('\n').length - 1, code, imports };
}

const slashed = (path: string): string => path.split(sep).join('/');

export function sourcesIn(folder: string): Source[] {
  if (!existsSync(join(PROJECT, folder))) return [];
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => source(slashed(join(folder, file))))
    .toSorted((a, b) => a.file.localeCompare(b.file));
}

/** The groups of files of which each leads to all others by imports. */
export function circles(files: readonly Pick<Source, 'file' | 'imports'>[]): string[] {
  const importsOf = new Map(files.map(({ file, imports }) => [file.replace(/\.ts$/, '.js'), imports]));
  const reachedFrom = (start: string): Set<string> => {
    const reached = new Set<string>();
    const next = [...(importsOf.get(start) ?? [])];
    for (let path = next.pop(); path !== undefined; path = next.pop()) {
      if (reached.has(path)) continue;
      reached.add(path);
      next.push(...(importsOf.get(path) ?? []));
    }
    return reached;
  };
  const reached = new Map([...importsOf.keys()].map((path) => [path, reachedFrom(path)]));
  const groups = [...reached]
    .filter(([path, others]) => others.has(path))
    .map(([path, others]) =>
      [...others]
        .filter((other) => reached.get(other)?.has(path))
        .toSorted()
        .join(' '),
    );
  return [...new Set(groups)];
}
