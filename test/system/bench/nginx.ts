/** nginx on the same tree, as the upper mark. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { KEEP_ALIVE_TIMEOUT_MS } from '../../../proxy/http/server.js';
import { temporariesIn } from '../contract/servers.js';
import { startServer, type Server } from './servers.js';

/** Headers that it makes itself, from the file. */
const MADE = /^(etag|last-modified|content-length|content-type|accept-ranges)$/i;

/**
 * One worker, a limit for each address that refuses nobody, and every file it has served kept open.
 * @param headers that it adds to each answer: flat
 */
export function startNginx(dist: string, folder: string, headers: readonly string[] = []): Promise<Server> {
  const added = headers.flatMap((name, index) => {
    if (index % 2 === 1 || MADE.test(name)) return [];
    return `add_header ${name} "${headers[index + 1]?.replaceAll(/["\\]/g, String.raw`\$&`)}" always;`;
  });
  const configuration = (port: number): string => `
user root;
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  default_type application/json;
  types { }
  keepalive_timeout ${KEEP_ALIVE_TIMEOUT_MS / 1000}s;
  keepalive_requests 1000000000;
  ${temporariesIn('tmp')}
  open_file_cache max=4000 inactive=60s;
  limit_req_zone $binary_remote_addr zone=clients:10m rate=1000000r/s;
  server {
    listen 127.0.0.1:${port} backlog=1024;
    root ${resolve(dist)};
    limit_req zone=clients burst=1000000 nodelay;
    ${added.join('\n    ')}
    location /api/v1/ { try_files $uri.json =404; }
    location / { try_files $uri =404; }
  }
}
`;
  return startServer((port) => {
    mkdirSync(folder, { recursive: true });
    const file = join(resolve(folder), 'nginx.conf');
    writeFileSync(file, configuration(port));
    return ['nginx', '-e', 'stderr', '-p', resolve(folder), '-c', file];
  });
}
