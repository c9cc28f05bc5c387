import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { nginxConfiguration } from '../../../../generator/edge/nginx.js';
import { readPublished } from '../../../../generator/edge/published.js';
import { Tree } from '../../../../generator/tree/tree.js';
import { KEEP_ALIVE_TIMEOUT_MS } from '../../../../proxy/http/server.js';
import { freePort, startServer, type Server } from './process.js';

/** nginx on the same tree, as the upper mark. */

export interface NginxOptions {
  readonly dist: string;
  /** Its own files; made if not there. */
  readonly folder: string;
  /** Headers it adds to each answer: flat. */
  readonly headers: readonly string[];
}

/** Those it makes itself, from the file. */
const MADE = new Set(['etag', 'last-modified', 'content-length', 'content-type', 'accept-ranges']);

/** One worker, a limit for each address that refuses nobody, and every file it has served kept open. */
export async function startNginx({ dist, folder, headers }: NginxOptions): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration({ port, dist: resolve(dist), folder: resolve(folder), headers }));
  return startServer(['nginx', '-e', join(resolve(folder), 'error.log'), '-c', resolve(file)], port);
}

/** nginx as `edge nginx` configures it, with one worker and limits that refuse nobody. */
export async function startEdge({ dist, folder }: Omit<NginxOptions, 'headers'>): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const file = join(resolve(folder), 'edge.conf');
  const ample = { tokens: 1_000_000, refill_seconds: 0.001 };
  const published = {
    ...readPublished(new Tree(dist)),
    limits: { api: ample, download: ample, page: ample },
  };
  const options = { out: dist, file, listen: `127.0.0.1:${port}`, trusted: [] };
  const { text } = nginxConfiguration(published, options);
  writeFileSync(file, `user root;\n${text.replace('worker_processes auto;', 'worker_processes 1;')}`);
  return startServer(['nginx', '-e', 'stderr', '-p', resolve(folder), '-c', file], port);
}

function configuration({ port, dist, folder, headers }: NginxOptions & { port: number }): string {
  const added: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = (headers[index + 1] ?? '').replaceAll(/["\\]/g, String.raw`\$&`);
    if (!MADE.has(name.toLowerCase())) added.push(`    add_header ${name} "${value}" always;`);
  }
  return `
user root;
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log crit;
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  default_type application/json;
  types { }
  keepalive_timeout ${KEEP_ALIVE_TIMEOUT_MS / 1000}s;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  open_file_cache max=4000 inactive=60s;
  limit_req_zone $binary_remote_addr zone=clients:10m rate=1000000r/s;
  server {
    listen 127.0.0.1:${port} backlog=1024;
    root ${dist};
    limit_req zone=clients burst=1000000 nodelay;
${added.join('\n')}
    location /api/v1/ { try_files $uri.json =404; }
    location / { try_files $uri =404; }
  }
}
`;
}
