/** The folders of the proxy: each imports only from those below it. */
import { describe, expect, it } from 'vitest';
import { circles, sourcesIn } from '../support/sources.js';

/** From the top. */
const LAYERS = ['process', 'http', 'ops', 'snapshot', 'tree', 'limiter', 'base'] as const;
type Layer = (typeof LAYERS)[number];

/** Files at the top of proxy/, which are in no folder. */
const FILES: Readonly<Record<string, Layer>> = {
  main: 'process',
  config: 'process',
  listen: 'process',
  package: 'process',
  clients: 'base',
  log: 'base',
};

/** `proxy/tree/read.js` -> `tree`. */
function layerOf(path: string): Layer {
  const [, name = ''] = /^proxy\/([\w-]+)/.exec(path) ?? [];
  const layer = FILES[name] ?? LAYERS.find((each) => each === name);
  if (layer === undefined) throw new TypeError(`${path} is in no layer`);
  return layer;
}

const sources = sourcesIn('proxy');
const imports = sources.flatMap(({ file, imports: imported }) =>
  imported.map((path) => ({
    file,
    path,
    depth: LAYERS.indexOf(layerOf(path)) - LAYERS.indexOf(layerOf(file)),
  })),
);

describe('imports in the proxy', () => {
  it('lead to the same folder or downwards, those of types included', () => {
    expect(imports.filter(({ depth }) => depth < 0)).toEqual([]);
  });

  it('between files never lead in a circle, types included', () => {
    expect(circles(sources)).toEqual([]);
    const [a, b] = [
      { file: 'a.ts', imports: ['b.js'] },
      { file: 'b.ts', imports: ['a.js'] },
    ];
    expect(circles([a, b])).toEqual(['a.js b.js']);
  });

  it('are seen by this test, and use each layer', () => {
    expect(imports.some(({ path }) => path === 'proxy/http/app.js')).toBe(true);
    expect(new Set(imports.map(({ path }) => layerOf(path)))).toEqual(new Set(LAYERS));
  });
});
