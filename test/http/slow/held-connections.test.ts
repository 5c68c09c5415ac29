/**
 * Connections held open in thousands, which say nothing, or a part of a request, an upgrade or a body: honest clients
 * notice nothing. HOSTWIRE_FULL=1: 20,000 for a minute, and each that the service closes is opened again.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { anonymousPssBytesOf } from '../../../bench/cpu.ts';
import { requestBytes } from '../../helpers/clients/http.ts';
import { checkTime } from '../../helpers/limits.ts';
import { percentile } from '../../helpers/service/media.ts';
import { serveProgram } from '../../helpers/service/service.ts';
import { type Report, Witness } from '../../siege/witness.ts';
import { socketsOf } from '../open-sockets.ts';
import { UPGRADE } from '../socket-attacks.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const WANTED = IS_FULL ? 20_000 : 2000;
const SECONDS = IS_FULL ? 60 : 5;
const MAX_PER_MS = 3;
const DESCRIPTORS = 40_000;
/** Descriptors left for everything else, including the honest clients. */
const SPARED = 1000;
const MAX_STATUS_P99_MS = 20;
/** Maximum user memory per connection. */
const MAX_KIB_EACH = 32;

const post = requestBytes('/api/media/control', { method: 'POST', body: 'x'.repeat(1000) });
/** The first bytes of the connections, in turn. */
const BEGINNINGS = [
  Buffer.alloc(0),
  requestBytes('/api/status').subarray(0, -2),
  UPGRADE.subarray(0, -2),
  post.subarray(0, -1),
  requestBytes('/api/status'),
];

/** How many connections this process and one that it starts can hold; raises their limit where that is allowed. */
function possible(): number {
  spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${DESCRIPTORS}:${DESCRIPTORS}`]);
  const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  return Math.min(WANTED, Number(limit) - SPARED);
}

/** Holds `count` connections to `port`, and opens others for those that are closed, until they are released. */
function hold(port: number, count: number) {
  const open = new Set<net.Socket>();
  let opened = 0;
  let lookedAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const room = Math.min(count - open.size, Math.ceil((now - lookedAt) * MAX_PER_MS), 100);
    lookedAt = now;
    for (let i = 0; i < room; i++) {
      const beginning = BEGINNINGS[opened % BEGINNINGS.length];
      // One address has 28,000 ports.
      const localAddress = `127.0.${2 + (opened++ % 8)}.1`;
      const socket = net.connect({ port, host: '127.0.0.1', localAddress });
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
      socket.resume();
      if (beginning !== undefined && beginning.length > 0) socket.write(beginning);
    }
  }, 5);
  return {
    opened: () => opened,
    release() {
      clearInterval(timer);
      for (const socket of open) socket.destroy();
    },
  };
}

t.setTimeout(300_000);

t.test(`[2.robust] ${WANTED} connections that are held open`, async (t) => {
  const count = possible();
  const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
  const { port, pid } = service;
  const reports: Report[] = [];
  const witness = Witness.start({ port, script: '', stream: '/api/stream', machine: '/api' }, (report) =>
    reports.push(report),
  );
  t.teardown(() => witness.stop());
  await sleep(5000);
  const before = { sockets: socketsOf(pid), bytes: anonymousPssBytesOf(pid) };
  reports.length = 0;
  // These clients would not take the service's CPU if they were on other machines.
  os.setPriority(19);
  const held = hold(port, count);
  t.teardown(() => held.release());
  let most = 0;
  let peak = 0;
  for (let second = 0; second < SECONDS || (most < count && second < 2 * SECONDS); second++) {
    await sleep(1000);
    most = Math.max(most, socketsOf(pid) - before.sockets);
    peak = Math.max(peak, anonymousPssBytesOf(pid) - before.bytes);
  }
  held.release();
  for (let second = 0; second < 20 && socketsOf(pid) > before.sockets; second++) await sleep(1000);
  const statusMs = reports.flatMap((report) => report.statusMs).sort((a, b) => a - b);
  const kib = peak / 1024 / most;
  t.comment(
    `figure: ${most} at a time, ${held.opened()} in all; /api/status p99 ${percentile(statusMs, 0.99).toFixed(1)} ms; ` +
      `${kib.toFixed(1)} KiB of user memory each`,
  );
  t.ok(most >= 0.9 * count, `${most} were open at a time`);
  t.strictSame(
    reports.flatMap(({ faults }) => faults),
    [],
    'every honest client is served',
  );
  t.ok((reports.at(-1)?.events ?? 0) > 0, `${reports.at(-1)?.events} events to them`);
  t.equal(reports.at(-1)?.missing, 0, 'none is missing');
  checkTime(t, percentile(statusMs, 0.99), MAX_STATUS_P99_MS, 'p99 of /api/status');
  t.ok(kib < MAX_KIB_EACH, `${kib.toFixed(1)} KiB each`);
  t.ok(socketsOf(pid) <= before.sockets, `${before.sockets} sockets before, ${socketsOf(pid)} after`);
});
