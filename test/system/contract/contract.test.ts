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
  for (const { name, run } of cases) for (const line of await run(send)) found.push(`${name}: ${line}`);
  expect(found).toEqual([]);
  expect(cases.length).toBeGreaterThan(600);
});
