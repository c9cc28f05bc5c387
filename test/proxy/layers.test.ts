/** The files of the proxy in the order in which they may be read: each imports only from those below it. */
import { describe, expect, it } from 'vitest';
import { circles, sourcesIn } from '../support/sources.js';

const NAMES =
  'main settings http/server http/app http/send http/answer http/negotiation http/conditions http/request operations ' +
  'tree/snapshot tree/files tree/router tree/target tree/schema limiter/redis limiter/buckets limiter/clients ' +
  'limiter/gcra log';
const ORDER = NAMES.split(' ').map((name) => `proxy/${name}.ts`);

const sources = sourcesIn('proxy');
const depthOf = (path: string): number => ORDER.indexOf(path.replace(/\.js$/, '.ts'));

describe('the files of the proxy', () => {
  it('are these twenty', () => {
    expect(sources.map(({ file }) => file).toSorted()).toEqual(ORDER.toSorted());
  });

  it('import from those below them, types included', () => {
    const imports = sources.flatMap(({ file, imports: paths }) => paths.map((path) => ({ file, path })));
    expect(imports.filter(({ file, path }) => depthOf(path) <= depthOf(file))).toEqual([]);
    expect(imports).toContainEqual({ file: 'proxy/main.ts', path: 'proxy/http/app.js' });
  });
});

it('circles notices one', () => {
  const [a, b] = [
    { file: 'a.ts', imports: ['b.js'] },
    { file: 'b.ts', imports: ['a.js'] },
  ];
  expect(circles([a, b])).toEqual(['a.js b.js']);
});
