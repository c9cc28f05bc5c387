/** A signal to a build that waits for a witness which never responds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createKey } from '../../../generator/log/key-file.js';
import { writeRegister } from '../../support/register.js';
import { ROWS, damageOf, errorsOf, manifestOf, startBuild, temporary, until } from '../publish/support.js';
import { logFolder } from '../upload/log.js';
import { Witness, publicKeyOf } from './witness-server.js';

const path = temporary();
let [register, out, key] = ['', '', ''];
let witnesses: readonly [Witness, Witness];
let isSilent = true;
let asked = 0;

beforeEach(async () => {
  [register, out, key] = [path('register.sqlite'), path('dist'), path('key')];
  writeRegister(register, ROWS);
  const log = publicKeyOf(createKey('register.example', key));
  witnesses = [await new Witness(log).start(0), await new Witness(log).start(0)];
  [isSilent, asked] = [true, 0];
  witnesses[1].instead = () => {
    asked += 1;
    return isSilent;
  };
});
afterEach(async () => {
  for (const witness of witnesses) await witness.stop();
});

const build = () =>
  startBuild(
    register,
    out,
    '--key',
    key,
    ...witnesses.flatMap((witness) => ['--witness', `${witness.url} ${witness.key.vkey}`]),
  );

/** Which witnesses have cosigned the checkpoint. */
function cosigned(): boolean[] {
  const [text = '', lines = ''] = readFileSync(join(out, logFolder(out), 'checkpoint'), 'utf8').split('\n\n');
  return witnesses.map((witness) =>
    lines.includes(witness.key.cosignature(`${text}\n`, witness.time).trim()),
  );
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends the wait: the snapshot is published with the cosignatures that are there',
  async (signal) => {
    // The first publishes a snapshot; the second changes nothing, and only asks again.
    for (const time of [1, 2]) {
      const running = build();
      await until(() => asked === time, 'the second witness is asked');
      running.child.kill(signal);
      const { code, stderr } = await running.done;
      expect(code).toBe(130);
      // Had it waited to the end, the reason would be that there was no response within 10 s.
      expect(stderr).toContain(`witness ${witnesses[1].url} has not cosigned: stopped by ${signal}\n`);
      expect(errorsOf({ stderr })).toEqual([`error: stopped by ${signal}, when all was done`]);
      expect(await damageOf(out)).toEqual([]);
      expect([manifestOf(out).sequence, cosigned()]).toEqual([1, [true, false]]);
    }
    isSilent = false;
    expect((await build().done).code).toBe(0);
    expect([manifestOf(out).sequence, cosigned()]).toEqual([1, [true, true]]);
  },
);
