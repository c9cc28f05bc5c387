/** Load on the proxy while builds alternate between two registers. */
import { join } from 'node:path';
import { Dice } from '../../../data/sample/dice.js';
import { startBuild } from '../../support/cli.js';
import { startProxy } from '../../support/proxy.js';
import { filesByUrl, sha256 } from '../../support/published.js';
import { isOfTheBuild } from '../../support/tree.js';

const CLIENTS = 8;
/** The URLs of all that a tree has, but for what is of the build, and for the page of a 404. */
const urlsOf = (out: string): Set<string> =>
  new Set(
    filesByUrl(out).flatMap(([url, file]) =>
      ['', '/404'].includes(url) || isOfTheBuild(file.slice(1)) ? [] : [url],
    ),
  );

async function build(register: string, out: string): Promise<void> {
  const { code, stderr } = await startBuild(register, out).done;
  if (code !== 0) throw new Error(`build of ${register} ended with ${code}: ${stderr}`);
}

/** What is wrong with a body; undefined if it is whole. */
function tornBy(response: Response, body: Buffer): string | undefined {
  if (response.headers.get('etag') !== `"${sha256(body).slice(0, 32)}"`) return 'the ETag of other bytes';
  try {
    if (response.headers.get('content-type')?.startsWith('application/json') === true)
      JSON.parse(String(body));
    return undefined;
  } catch {
    return 'no JSON';
  }
}

/** @param args two registers, seconds, a folder @returns what went wrong */
export async function load(
  [a = '', b = '', seconds = '60', folder = '']: readonly string[],
  say: (line: string) => void,
): Promise<readonly string[]> {
  const out = join(folder, 'dist');
  await build(a, out);
  const inA = urlsOf(out);
  await build(b, out);
  const inB = urlsOf(out);
  const all = [...new Set([...inA, ...inB])];
  const fast = { tokens: 1_000_000, refill_seconds: 0.001 };
  const proxy = await startProxy(out, [], { limits: { api: fast, download: fast, page: fast } });
  const faults: string[] = [];
  let answers = 0;
  const judge = async (path: string): Promise<string | undefined> => {
    const response = await proxy.get(path, { headers: { 'Accept-Encoding': 'identity' } });
    const body = Buffer.from(await response.arrayBuffer());
    answers += 1;
    if (response.status === 404) return inA.has(path) && inB.has(path) ? 'a 404' : undefined;
    return response.status === 200 ? tornBy(response, body) : `status ${response.status}`;
  };
  const until = performance.now() + Number(seconds) * 1000;
  const client = async (seed: number): Promise<void> => {
    for (let asked = 0; performance.now() < until; asked += 1) {
      const path = all[new Dice(seed, 'load', asked).below(all.length)] ?? '/';
      const fault = await judge(path).catch(String);
      if (fault !== undefined) faults.push(`${path}: ${fault}`);
    }
  };
  let builds = 0;
  const maintainer = async (): Promise<void> => {
    for (; performance.now() < until; builds += 1) await build(builds % 2 === 0 ? a : b, out);
  };
  await Promise.all([maintainer(), ...Array.from({ length: CLIENTS }, (_, seed) => client(seed + 1))]);
  await proxy.stop();
  say(`${builds} builds, ${answers} answers`);
  return faults;
}
