/** The two halves together: what the generator publishes is what the proxy answers. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startProxy } from '../../support/proxy.js';
import { isDownload, isSibling, pathsBelow } from '../../support/tree.js';
import { contractCases, sender } from './cases.js';
import { sampleTree } from './sample-tree.js';

it('the proxy keeps the contract, in every case', async () => {
  const out = await sampleTree();
  const proxy = await startProxy(out, ['--trust-proxy=loopback'], { limits: {} });
  onTestFinished(async () => void (await proxy.stop()));
  const send = sender(proxy.base);
  const cases = contractCases(out);
  const found: string[] = [];
  // The number of requests at once, each from an address of its own.
  for (let at = 0; at < cases.length; at += 16)
    await Promise.all(
      cases.slice(at, at + 16).map(async ({ name, run }) => {
        for (const line of await run(send)) found.push(`${name}: ${line}`);
      }),
    );
  expect(found).toEqual([]);
  expect(cases.length).toBeGreaterThan(300);
});

it('documents of 4 KiB or more have compressed siblings, lists of the largest for the usual limit alone', async () => {
  const out = await sampleTree();
  const files = pathsBelow(out, (entry) => entry.isFile());
  const large = files.filter((file) => !isSibling(file) && statSync(join(out, file)).size >= 4096);
  const without = /^(snapshot\.json|changes\/.*|feeds\/snapshots\..*|api\/v1\/largest\/(?!100\.)\d+\.json)$/;
  const expected = large.filter((file) => !isDownload(file) && !without.test(file));
  expect(expected).toContain('api/v1/largest/100.json');
  expect(large).toContain('api/v1/largest/99.json');
  expect(files.filter(isSibling)).toEqual(expected.flatMap((file) => [`${file}.br`, `${file}.gz`]));
});
