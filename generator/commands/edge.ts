/** `edge`: writes the configuration of another server, or the headers of a static host. */
import { isIP } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { hostHeaders, hostNotFound, hostRedirects } from '../programs/edge/headers.js';
import { nginxConfiguration } from '../programs/edge/nginx.js';
import { readPublished } from '../programs/edge/published.js';
import { Failure, writing } from '../base/errors.js';
import { liesIn, makeFolder, readText, replaceFile } from '../base/files.js';
import { HOST_FILES } from '../routes/paths.js';
import type { Snapshot } from '../tree/snapshot-json.js';
import { Tree } from '../tree/tree.js';
import { outOption, OUTPUT, type Common, type Program } from './options.js';
import { print, type Terminal } from './terminal.js';

interface Flags extends Common {
  readonly out: string;
  readonly write: string;
}

interface NginxFlags extends Flags {
  readonly listen: string;
  readonly trustProxy?: readonly string[];
}

export function addEdge(program: Program, terminal: Terminal): void {
  const edge = program
    .command('edge')
    .description('Write the configuration of a web server or a static host that serves the tree.')
    .examples(
      'edge nginx --write /etc/register/nginx.conf',
      "edge nginx --listen '[::]:80' --trust-proxy 10.0.0.0/8 --write nginx.conf",
      'edge headers --write site',
    );
  edge
    .command('nginx')
    .with(outOption, ...OUTPUT)
    .description('A whole configuration of nginx: the tree, headers, errors and limits, without Node.')
    .option('--listen <address:port>', 'where nginx listens', addressAndPort, '127.0.0.1:8081')
    .option(
      '--trust-proxy <ranges>',
      'load balancers whose X-Forwarded-For is believed: addresses or CIDR ranges, separated by commas',
      ranges,
    )
    .requiredOption('--write <file>', 'the file to write')
    .action((flags: NginxFlags) => {
      const { out, write, listen, trustProxy: trusted = [] } = flags;
      const published = readPublished(new Tree(out));
      const { text, notes } = nginxConfiguration(published, { out, file: resolve(write), listen, trusted });
      writeFiles(terminal, flags, published, { [write]: text }, notes);
    });
  edge
    .command('headers')
    .with(outOption, ...OUTPUT)
    .description(
      '_headers, _redirects and api/404.html, as static hosts such as Netlify and Cloudflare Pages read them.',
    )
    .requiredOption('--write <folder>', 'the folder to write them into')
    .action((flags: Flags) => {
      const published = readPublished(new Tree(flags.out));
      writeFiles(terminal, flags, published, {
        [join(flags.write, HOST_FILES.headers)]: hostHeaders(published),
        [join(flags.write, HOST_FILES.redirects)]: hostRedirects(published),
        [join(flags.write, HOST_FILES.notFound)]: hostNotFound(published),
      });
    });
}

/**
 * Writes the files that differ, and says which.
 * @param contents by name
 * @param notes on how the configured server differs from the proxy
 */
function writeFiles(
  terminal: Terminal,
  flags: Flags,
  { sequence }: Snapshot,
  contents: Readonly<Record<string, string>>,
  notes: readonly string[] = [],
): void {
  const written = Object.entries(contents).map(([file, text]) => {
    if (liesIn(resolve(file), resolve(flags.out)))
      throw Failure.usage(`"${file}" lies in the tree "${flags.out}", expected a place outside`);
    return { file, changed: writing(`"${file}"`, () => writeIfChanged(file, text)) };
  });
  if (flags.json !== true && flags.quiet !== true) for (const note of notes) terminal.warn(`note: ${note}`);
  print(terminal, flags, { snapshot: sequence, files: written, notes }, () =>
    written.map(({ file, changed }) =>
      changed ? `Wrote "${file}" for the routes of snapshot ${sequence}` : `"${file}" is up to date`,
    ),
  );
}

/** @returns whether the file had other content, or did not exist */
function writeIfChanged(file: string, text: string): boolean {
  if (readText(file) === text) return false;
  makeFolder(dirname(resolve(file)));
  replaceFile(file, text);
  return true;
}

function addressAndPort(text: string): string {
  const [, ipv6, ipv4, port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  // nginx reads no zones, and no IPv4 address within an IPv6 address.
  const isValid = ipv6 === undefined ? isIP(ipv4 ?? '') === 4 : isIP(ipv6) === 6 && !/[%.]/.test(ipv6);
  if (isValid && Number(port) >= 1 && Number(port) <= 65_535) return text;
  throw new InvalidArgumentError('expected an address and a port, such as 127.0.0.1:8081 or [::1]:8081');
}

const range = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** Addresses and CIDR ranges. */
const ranges = (text: string): readonly string[] =>
  text.split(',').map((each) => {
    if (range.safeParse(each).success && !each.endsWith('/0')) return each;
    throw new InvalidArgumentError(
      `"${each}": expected an address or a CIDR range, such as 10.0.0.0/8, and not everybody's`,
    );
  });
