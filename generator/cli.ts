#!/usr/bin/env node
/**
 * `npm run snapshot -- COMMAND`, or `register-api COMMAND`. `serve`, an earlier name of
 * `register-api-proxy`, hands the process over to the proxy; program.ts has all commands.
 */
const isProxy = process.argv[2] === 'serve';
// Not an import: the generator knows no module of the proxy.
const program = new URL(isProxy ? '../proxy/main.js' : 'program.js', import.meta.url);
await import(program.href);
