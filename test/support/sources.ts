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

/** All sources below a folder. */
export function sourcesIn(folder: string): Source[] {
  if (!existsSync(join(PROJECT, folder))) return [];
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => source(slashed(join(folder, file))))
    .toSorted((a, b) => a.file.localeCompare(b.file));
}
