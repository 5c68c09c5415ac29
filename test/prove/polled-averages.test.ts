/** Figures that a client polls beside a load that changes every second, against the kernel's counts of the same time. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import type { UsageDetail } from '#src/wire/usage.js';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { serveProgram } from '../helpers/service/service.ts';

const PACE_MS = 5300;
/** The share of a second that each load works, for one pace each. */
const DUTIES = [0.2, 0.8, 0.5, 0.1];
/** Percent points. The kernel is read up to 25 ms before or after the service reads it. */
const TOLERANCE = 3;

/** Works for its share of each second, and exits on its own. */
const LOAD = `
const { workerData: { duty, seconds } } = require('node:worker_threads');
const pause = new Int32Array(new SharedArrayBuffer(4));
for (let second = 0; second < seconds; second++) {
  const until = performance.now() + 1000 * duty;
  while (performance.now() < until);
  Atomics.wait(pause, 0, 0, 1000 * (1 - duty));
}`;

/** Datagrams that loopback carries in the first moment after a poll, where a short window before the next sees none. */
const DATAGRAMS = 2000;
const DATAGRAM = Buffer.alloc(1000);
/** Share of the rate that the polls' own bytes, and their time, may make. */
const RATE_TOLERANCE = 0.05;

function receivedBytes(): number {
  const line = /^ *lo: *(\d+)/m.exec(readFileSync('/proc/net/dev', 'utf8'));
  return Number(line?.[1]);
}

/** Returns the ticks of all processors since boot. */
function readTimes(): { readonly busy: number; readonly total: number } {
  const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '';
  // user nice system idle iowait irq softirq steal; guest times are part of user and nice.
  const ticks = line.split(/\s+/).slice(1, 9).map(Number);
  const total = ticks.reduce((sum, value) => sum + value, 0);
  return { total, busy: total - (ticks[3] ?? 0) - (ticks[4] ?? 0) };
}

t.test(
  '[3.poll-average] polls 5.3 s apart show the load of the whole 5.3 s',
  { timeout: 120_000 },
  async (t) => {
    const service = await serveProgram(t);
    const poll = async () => {
      const beganAt = performance.now();
      const answer = await ask(service.port, '/api/usage?detail=1');
      // The documented shape.
      return { ...(jsonOf(answer) as UsageDetail), tookMs: performance.now() - beganAt };
    };
    const sink = createSocket('udp4').bind(0, '127.0.0.1');
    t.teardown(() => sink.close());
    await once(sink, 'listening');
    const { port } = sink.address();
    const sendBurst = async () => {
      for (let sent = 0; sent < DATAGRAMS; sent++)
        await new Promise((resolve) => sink.send(DATAGRAM, port, '127.0.0.1', resolve));
    };
    await poll();
    let bytesBefore = receivedBytes();
    let beforeMs = performance.now();
    let before = readTimes();
    for (const duty of DUTIES) {
      const load = new Worker(LOAD, { eval: true, workerData: { duty, seconds: 5 } });
      const ended = new Promise((resolve) => load.once('exit', resolve));
      await Promise.all([sendBurst(), sleep(PACE_MS)]);
      const answer = await poll();
      const bytes = receivedBytes();
      const now = performance.now();
      const trueRate = (1000 * (bytes - bytesBefore)) / (now - beforeMs);
      [bytesBefore, beforeMs] = [bytes, now];
      const after = readTimes();
      const truth = (100 * (after.busy - before.busy)) / (after.total - before.total);
      before = after;
      const shown = answer.cpu?.current_load ?? Number.NaN;
      t.comment(
        `figure: load ${duty}: ${shown} %, counted ${truth.toFixed(1)} %, ${answer.tookMs.toFixed(0)} ms`,
      );
      t.ok(Math.abs(shown - truth) <= TOLERANCE, `${shown} % where the kernel counted ${truth.toFixed(1)} %`);
      t.ok((answer.window_seconds ?? 0) > 5);
      const rate = answer.network?.interfaces.find(({ name }) => name === 'lo')?.receive_rate ?? Number.NaN;
      t.comment(`figure: ${rate} bytes/s, counted ${trueRate.toFixed(0)}`);
      t.ok(
        Math.abs(rate - trueRate) <= RATE_TOLERANCE * trueRate,
        `${rate} where the kernel counted ${trueRate}`,
      );
      await ended;
    }
  },
);
