import { execFileSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { lookAtNow, readFileNow } from '../../proxy/files-now.js';
import { lookAt, openFile } from '../../proxy/files.js';
import { emptyFolder, publish } from './support.js';

describe('readFileNow', () => {
  it('reads what openFile opens, with the same identity', async () => {
    const root = await emptyFolder();
    await publish(root, 'a.json', '{"a":1}');
    await publish(root, 'empty.json', '');
    const opened = await openFile(join(root, 'a.json'));
    await opened?.handle.close();
    const read = readFileNow(join(root, 'a.json'), 100);
    expect(read?.bytes.toString()).toBe('{"a":1}');
    expect(read?.state).toEqual(opened?.state);
    expect(lookAtNow(join(root, 'a.json'))).toEqual(await lookAt(join(root, 'a.json')));
    expect(readFileNow(join(root, 'empty.json'), 100)?.bytes.length).toBe(0);
  });

  it('leaves a larger file, a link, a folder, a pipe and what is not there to others', async () => {
    const root = await emptyFolder();
    await publish(root, 'a.json', '{"a":1}');
    await symlink('a.json', join(root, 'link.json'));
    await mkdir(join(root, 'folder.json'));
    execFileSync('mkfifo', [join(root, 'pipe.json')]);
    expect(readFileNow(join(root, 'a.json'), 7)).toBeDefined();
    expect(readFileNow(join(root, 'a.json'), 6)).toBeUndefined();
    for (const file of ['link.json', 'folder.json', 'pipe.json', 'nothing.json', 'a.json/b.json']) {
      expect(readFileNow(join(root, file), 100)).toBeUndefined();
    }
    expect(lookAtNow(join(root, 'nothing.json'))).toBeUndefined();
    expect(lookAtNow(join(root, 'a.json/b.json'))).toBeUndefined();
  });
});
