#!/usr/bin/env node
/** Arguments, signals, exit codes: the only file that touches `process`. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { DEFAULT_CONFIG } from './config/schema.ts';
import { createLog } from './log.ts';

const VERSION = '0.1.0-alpha';
const log = createLog((line) => process.stderr.write(line));

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: { host: { type: 'string' }, port: { type: 'string' }, interval: { type: 'string' } },
  });
  // uWebSockets.js refuses header blocks over 4 KiB unless told before it is loaded: cookies of other services on
  // this host name are sent here too.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
  const { openNativeHost } = await import('./host/native.ts');
  const { Service } = await import('./service.ts');
  const config = {
    ...DEFAULT_CONFIG,
    stats: { stream_interval_seconds: Number(values.interval ?? 2) },
    server: {
      ...DEFAULT_CONFIG.server,
      host: values.host ?? DEFAULT_CONFIG.server.host,
      port: values.port === undefined ? DEFAULT_CONFIG.server.port : Number(values.port),
    },
  };
  const service = new Service({
    config,
    host: openNativeHost({ proc: config.host.proc, sys: config.host.sys }),
    log,
    facts: {
      version: VERSION,
      pid: process.pid,
      startedAt: Math.floor(Date.now() / 1000),
      node: process.version,
      platform: process.platform,
    },
  });
  const { host, port } = service.start();
  const urlHost = host.includes(':') ? `[${host}]` : host;
  const local = host === '::' || host === '0.0.0.0' ? ` (open http://localhost:${port})` : '';
  process.stderr.write(`listening on http://${urlHost}:${port}${local}\n`);
  const stop = () => {
    void service.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

run().catch((error: unknown) => {
  log.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
