import { describe, expect, it } from 'vitest';

import { publish, startProxy, tree } from '../support.js';

/** The files of a signed log over HTTP. */

const LOG = 'log/efd62e2505583bf5';
const HASHES = Buffer.alloc(5 * 32, 'a tile of five hashes; ');
const CHECKPOINT = 'register.example/log\n5\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— x y\n';

async function logTree(): Promise<string> {
  const root = await tree({ compressed_from: 10 });
  await publish(root, `${LOG}/checkpoint`, CHECKPOINT);
  await publish(root, `${LOG}/tile/0/000.p/5`, HASHES);
  await publish(root, `${LOG}/tile/0/x001/234`, HASHES);
  await publish(root, `${LOG}/tile/0/000.p/5.gz`, 'not a form of it');
  await publish(root, `${LOG}/index/x`, 'no route leads here');
  return root;
}

describe('the log', () => {
  it('has a new checkpoint within a second, though no snapshot.json comes with it', async () => {
    const proxy = await startProxy(await logTree());
    const text = async (): Promise<string> => (await proxy.ask(`/${LOG}/checkpoint`)).text;
    expect(await text()).toBe(CHECKPOINT);
    const next = CHECKPOINT.replace('5', '6');
    await publish(proxy.root, `${LOG}/checkpoint`, next);
    proxy.advance(999);
    expect(await text()).toBe(CHECKPOINT);
    proxy.advance(1);
    expect(await text()).toBe(next);
  });

  it('has no compressed forms, even if there are files of their names', async () => {
    const proxy = await startProxy(await logTree());
    const { status, headers } = await proxy.ask(`/${LOG}/tile/0/000.p/5`, {
      headers: { 'Accept-Encoding': 'br, gzip' },
    });
    expect([status, headers['content-encoding'], headers['content-length']]).toEqual([200, undefined, '160']);
  });
});
