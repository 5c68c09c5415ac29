/** nginx with nchan as a subject of the fan-out bench: one worker, which gets the service's payload once per second. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { findFreePort } from './service-subject.ts';

const NGINX = '/usr/sbin/nginx';
const MODULE = '/usr/lib/nginx/modules/ngx_nchan_module.so';
const START_LIMIT_MS = 5000;

export function hasNginx(): boolean {
  return existsSync(NGINX) && existsSync(MODULE);
}

// A new subscriber gets the last message immediately, as from the service.
const configOf = (folder: string, port: number) => `
load_module ${MODULE};
user root;
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log stderr crit;
events { worker_connections 19900; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  nchan_shared_memory_size 64M;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    keepalive_requests 100000;
    location = /api/status {
      return 200 '{"status":"ok"}';
    }
    location = /api/stream {
      nchan_subscriber eventsource;
      nchan_subscriber_first_message oldest;
      nchan_channel_id stats;
    }
    location = /publish {
      nchan_publisher;
      nchan_message_buffer_length 1;
      nchan_channel_id stats;
    }
  }
}
`;

/** Posts `payload` with the current time, as the floor does; returns true when nginx accepted it. */
function publish(port: number, payload: string): Promise<boolean> {
  const body = payload.replace(/(?<="timestamp":)\d{10}/, String(Math.floor(Date.now() / 1000)));
  return new Promise((resolve) => {
    const request = http.request(
      { host: '127.0.0.1', port, path: '/publish', method: 'POST' },
      (response) => {
        response.resume();
        response.once('end', () => resolve((response.statusCode ?? 0) < 300));
      },
    );
    request.once('error', () => resolve(false));
    request.end(body);
  });
}

/** Returns the worker, whose CPU time and memory are measured; the master only waits. */
function workerOf(child: ChildProcess): number {
  const worker = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1'));
  if (!(worker > 0)) throw new Error('nginx has not exactly one worker');
  return worker;
}

export async function startNginx(eventFile: string) {
  const event = readFileSync(eventFile, 'utf8');
  const payload = event.slice(event.indexOf('{'), event.lastIndexOf('}') + 1);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-nginx-'));
  const port = await findFreePort();
  const config = path.join(folder, 'nginx.conf');
  writeFileSync(config, configOf(folder, port));
  const child = spawn(NGINX, ['-p', folder, '-c', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const until = performance.now() + START_LIMIT_MS;
  while (!(await publish(port, payload))) {
    if (child.exitCode !== null || performance.now() > until) throw new Error('nginx does not start');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  let isPaused = false;
  const timer = setInterval(() => {
    if (!isPaused) void publish(port, payload);
  }, 1000);
  return {
    pid: workerOf(child),
    port,
    setPaused(value: boolean) {
      isPaused = value;
    },
    async stop() {
      clearInterval(timer);
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
