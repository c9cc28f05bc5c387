/** Why a build rendered everything: in its summary and its JSON, each time but the first. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { counted } from '../../support/build.js';
import { inputs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';

const path = temporary();
const fullRender = z.looseObject({ full_render: z.string().nullable() });

/** A register with a tree, and what a build of it says: the last line of its summary, and its JSON. */
async function built() {
  const rows = { games: [{ id: 5, visits: 6 }, { id: 6 }], users: [{ id: 3, username: 'c' }] };
  const [register, out] = [writeRegister(path('register.sqlite'), rows), path('dist')];
  const build = async (...args: string[]) => {
    const { stdout } = await inProcess('build', ...inputs(register, out), ...args);
    const [, line = null] = /^ {2}everything was rendered: (.*)$/m.exec(stdout) ?? [];
    return line;
  };
  const json = async (...args: string[]) => {
    const { stdout } = await inProcess('build', ...inputs(register, out), ...args, '--json');
    return fullRender.parse(JSON.parse(stdout)).full_render;
  };
  expect(await build()).toBe(null);
  return { register, out, build, json };
}

const GROUPED = `ALTER TABLE games RENAME TO raw;
  CREATE VIEW games AS SELECT raw.* FROM raw JOIN (SELECT id, count(*) FROM raw GROUP BY id) AS s ON s.id = +raw.id`;
const SLOW_VIEW = `view games can't be read by id (docs/your-register.md#views-that-stay-fast)`;

describe('a build that renders everything says why:', () => {
  it('a view that can’t be read by id, each time', async () => {
    const { build, json, register } = await built();
    changeRegister(register, GROUPED);
    expect([await build(), await build(), await json()]).toEqual([SLOW_VIEW, SLOW_VIEW, SLOW_VIEW]);
    changeRegister(register, 'DROP VIEW games; CREATE VIEW games AS SELECT * FROM raw');
    expect(await build()).toBe(
      `the last build couldn't read the register by id (docs/publishing.md#snapshots)`,
    );
    expect(await build()).toBe(null);
  });

  it('not a change of the register, nor because --skip-invalid leaves a record out', async () => {
    const { build, json, register } = await built();
    const args = ['--skip-invalid', '--accept-removals'];
    changeRegister(register, 'UPDATE games SET visits = 7 WHERE id = 5');
    expect([await build(), await json()]).toEqual([null, null]);
    changeRegister(register, 'UPDATE games SET visits = -1 WHERE id = 5');
    expect([await build(...args), await json(...args)]).toEqual([null, null]);
    changeRegister(register, GROUPED);
    expect(await build(...args)).toBe(SLOW_VIEW);
  });

  it.each([
    ['an index', 'CREATE INDEX i ON games (visits)', []],
    ['the base URL', '', ['--base-url', 'https://elsewhere.example']],
  ])('%s that changed, once', async (_, sql, args) => {
    const { build, register } = await built();
    changeRegister(register, sql);
    const what =
      sql === '' ? 'the operator file, the base URL or a key' : 'tables, views or indexes of the register';
    expect(await build(...args)).toBe(`${what} changed (docs/publishing.md#snapshots)`);
    expect(await build(...args)).toBe(null);
  });

  it('another version of the program', async () => {
    const { register, out } = await built();
    const { fullRender } = await counted({ register, out }, 'another');
    expect(fullRender).toBe('the program, Node or a package changed (docs/publishing.md#snapshots)');
    expect((await counted({ register, out }, 'another')).fullRender).toBe(null);
  });

  it('a rollback', async () => {
    const { build, register, out } = await built();
    changeRegister(register, 'UPDATE games SET visits = 7 WHERE id = 5');
    await build();
    expect((await inProcess('rollback', '--out', out)).code).toBe(0);
    expect(await build()).toBe(
      `what the last snapshot was made from isn't known, as after a rollback (docs/publishing.md#snapshots)`,
    );
  });
});
