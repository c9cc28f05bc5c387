/** /api/v1 lists every endpoint of the register that answers JSON, and each of them answers. */
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { writeSample } from '../../../data/sample.js';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { startProxy, type RunningProxy } from '../../support/proxy.js';
import { WITH_PLATFORM_IDS, changeRegister, writeRegister } from '../../support/register.js';
import { json, readTree } from '../../support/tree.js';
import { readDescription, responseOf } from './openapi/support.js';

const path = temporary();
const running: RunningProxy[] = [];
afterAll(() => Promise.all(running.map((proxy) => proxy.stop())));

const index = z.looseObject({ endpoints: z.array(z.looseObject({ path: z.string() })) });

const withExamples = z.looseObject({
  routes: z.array(z.looseObject({ path: z.string(), example: z.string().optional() })),
});

const indexed = (out: string): string[] =>
  index.parse(json(readTree(out), 'api/v1.json')).endpoints.map((endpoint) => endpoint.path);

/** The paths that are described as answering JSON. */
const described = (out: string): string[] => {
  const description = readDescription(out);
  return Object.keys(description.paths).filter(
    (at) => 'application/json' in (responseOf(description, at, 200).content ?? {}),
  );
};

describe('the index', () => {
  it('lists every endpoint that answers JSON, and each answers', async () => {
    const out = path('dist');
    const register = path('register.sqlite');
    await writeSample({ file: register, records: 200, seed: 7 });
    await published({ register, out });
    // A second snapshot, so that there is a change list.
    changeRegister(register, WITH_PLATFORM_IDS);
    await published({ register, out });

    expect(indexed(out).toSorted()).toEqual(described(out).toSorted());
    const { routes } = withExamples.parse(json(readTree(out), 'snapshot.json'));
    const examples = new Map(routes.map((route) => [route.path, route.example]));
    const proxy = await startProxy(out);
    running.push(proxy);
    for (const at of indexed(out)) {
      const example = at === '/changes/{sequence}.json' ? '/changes/2.json' : (examples.get(at) ?? at);
      const answer = await proxy.get(example);
      expect(`${answer.status} ${answer.headers.get('content-type')}`, example).toBe(
        '200 application/json; charset=utf-8',
      );
    }
  });

  it('has the endpoints of the specification first, then lists, look-up, ids, changes and the snapshot', async () => {
    const out = path('dist');
    const register = writeRegister(path('register.sqlite'), { games: [{ id: 7, name: 'seven' }] });
    for (const table of ['groups', 'users', 'items']) changeRegister(register, `DROP TABLE ${table}`);
    await published({ register, out });
    // Nothing of what a register of games alone does not have.
    const paths =
      '/api/v1 /api/v1/game/{id} /api/v1/stats /api/v1/largest/games /api/v1/recent /api/v1/newest ' +
      '/api/v1/lookup /api/v1/lookup/game/{prefix} /api/v1/lookup/names /api/v1/lookup/names/{page} ' +
      '/api/v1/lookup/platform-id/game/{prefix} ' +
      '/api/v1/owners/user/{prefix} /api/v1/owners/group/{prefix} ' +
      '/api/v1/ids /api/v1/ids/game/{first_id} /changes/index.json /changes/{sequence}.json ' +
      '/snapshot.json /api/v1/openapi.json /downloads/datapackage.json';
    expect(indexed(out)).toEqual(paths.split(' '));
  });
});
