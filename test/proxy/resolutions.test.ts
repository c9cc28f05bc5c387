import { describe, expect, it } from 'vitest';

import { Resolutions } from '../../proxy/resolutions.js';
import { resolve } from '../../proxy/resolve.js';
import { compileRoutes } from '../../proxy/routes.js';

const table = compileRoutes([
  {
    name: 'group',
    path: '/api/v1/group/{id}',
    file: 'api/v1/group/{id}.json',
    class: 'record',
    type: 'application/json',
    parameters: [{ name: 'id', in: 'path', type: 'id' }],
  },
]);
const targetOf = (index: number): string => `/api/v1/group/${index}`;

describe('Resolutions', () => {
  it('says of each target what resolve says, asked once or again', () => {
    const resolutions = new Resolutions(table);
    for (const target of [
      targetOf(7),
      `${targetOf(7)}?x`,
      targetOf(7),
      '/nothing',
      '/api/v1/group/07',
      '/a/',
    ]) {
      expect(resolutions.of(target)).toEqual(resolve(target, table));
      expect(resolutions.of(target)).toEqual(resolve(target, table));
    }
  });

  it('takes a target that is asked again and again apart once', () => {
    const resolutions = new Resolutions(table);
    const first = resolutions.of(targetOf(7));
    for (let index = 100; index < 20_000; index += 1) {
      resolutions.of(targetOf(index));
      expect(resolutions.of(targetOf(7))).toBe(first);
    }
  });

  it('forgets what others are asked after, and remembers neither errors nor long targets', () => {
    const resolutions = new Resolutions(table);
    const first = resolutions.of(targetOf(7));
    for (let index = 100; index < 5_000; index += 1) resolutions.of(targetOf(index));
    expect(resolutions.of(targetOf(7))).not.toBe(first);
    for (const target of ['/nothing', '/api/v1/group/x', `${targetOf(7)}?${'x'.repeat(300)}`]) {
      expect(resolutions.of(target)).not.toBe(resolutions.of(target));
    }
  });
});
