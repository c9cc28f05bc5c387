/** /api/v1 lists the endpoints that the register has; openapi/ compares it with the description. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { published } from '../../support/build.js';
import { temporary } from '../../support/folder.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { json, readTree } from '../../support/tree.js';

const path = temporary();
const index = z.looseObject({ endpoints: z.array(z.looseObject({ path: z.string() })) });

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
  const { endpoints } = index.parse(json(readTree(out), 'api/v1.json'));
  expect(endpoints.map((endpoint) => endpoint.path)).toEqual(paths.split(' '));
});
