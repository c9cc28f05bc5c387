/** The two halves together: what the generator publishes is what the proxy answers. */
import { expect, it, onTestFinished } from 'vitest';
import { startProxy } from '../../support/proxy.js';
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
