/** Why a build rendered everything: in its summary and its JSON, each time but the first. */
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { counted } from '../../support/build.js';
import { inputs } from '../../support/cli.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { changeRegister, writeRegister } from '../../support/register.js';
import { inState } from '../../support/tree.js';

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

const why = (what: string): string => `${what} (docs/publishing.md#snapshots)`;

describe('a build that renders everything says why:', () => {
  it('a view that can’t be read by id, each time', async () => {
    const { build, json, register } = await built();
    changeRegister(register, GROUPED);
    expect([await build(), await json()]).toEqual([SLOW_VIEW, SLOW_VIEW]);
    const skipping = ['--skip-invalid', '--accept-removals'];
    changeRegister(register, 'UPDATE raw SET visits = -1 WHERE id = 5');
    expect(await build(...skipping)).toBe(SLOW_VIEW);
    changeRegister(register, 'DROP VIEW games; CREATE VIEW games AS SELECT * FROM raw');
    expect(await build(...skipping)).toBe(
      `the last build couldn't read the register by id (docs/publishing.md#snapshots)`,
    );
    // Not because --skip-invalid leaves a record out.
    expect(await json(...skipping)).toBe(null);
  });

  it('an index, the base URL or the program that changed, once, or a state that was lost; but no change of the register', async () => {
    const { build, register, out } = await built();
    changeRegister(register, 'UPDATE games SET visits = 7 WHERE id = 5');
    expect(await build()).toBe(null);
    rmSync(inState(out), { recursive: true });
    expect(await build()).toBe(
      why(`what the last snapshot was made from isn't known, as where the state was lost`),
    );
    changeRegister(register, 'CREATE INDEX i ON games (visits)');
    expect([await build(), await build()]).toEqual([
      why('tables, views or indexes of the register changed'),
      null,
    ]);
    const baseUrl = 'https://elsewhere.example';
    const elsewhere = ['--base-url', baseUrl];
    expect([await build(...elsewhere), await build(...elsewhere)]).toEqual([
      why('the operator file, the base URL or a key changed'),
      null,
    ]);
    const flags = { register, out, baseUrl };
    const another = async (): Promise<unknown> => (await counted(flags, 'another')).fullRender;
    expect([await another(), await another()]).toEqual([why('the program, Node or a package changed'), null]);
  });
});
