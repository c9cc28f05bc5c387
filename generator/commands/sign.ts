/** `sign`: signs the newest snapshot, where builds have no key. */
import { signingFor } from '../config/config.js';
import { Failure } from '../base/errors.js';
import { sign } from '../programs/log/sign.js';
import { amountOf } from '../base/progress.js';
import { Tree } from '../tree/tree.js';
import { signingOptions, type Signs, type Program } from './options.js';
import { onTree, print, type Terminal } from './terminal.js';

export function addSign(program: Program, terminal: Terminal): void {
  program
    .command('sign')
    .with(...signingOptions('for its "key"'))
    .description('Sign the last snapshot of a tree that declares a log, if that was not done yet.')
    .examples('build', 'sign --key /media/key/log.key')
    .action(async (flags: Signs) => {
      const { out, state, quiet } = flags;
      const { signing } = signingFor(flags);
      if (signing === undefined)
        throw Failure.usage('nothing signs without a key, expected one (--key, SNAPSHOT_KEY or "key")');
      const { origin, sequence, size, isNew } = await onTree(terminal, flags, () =>
        sign(new Tree(out, state), signing, terminal.warn, terminal.progress(quiet)),
      );
      const what = isNew
        ? `Signed snapshot ${sequence} of ${out}`
        : `Snapshot ${sequence} of ${out} is signed`;
      print(terminal, flags, { origin, sequence, size, signed: isNew }, () => [
        `${what}: the log ${origin} has ${amountOf(size, 'snapshots')}`,
      ]);
    });
}
