/** The service on Windows over real sockets: its public routes, its stream, its end. */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { CpuStats, DiskStats, MemoryStats, NetworkStats } from '#src/wire/sample.js';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { startOnWindows } from './wine.ts';

t.setTimeout(240_000);

const service = await startOnWindows({ stats: { stream_interval_seconds: 1 } });
const get = (path: string) => fetch(service.baseUrl + path);
/** The answers of the routes here; each test reads only the keys it names. */
interface Answers {
  readonly timestamp: number;
  readonly uptime: number;
  readonly cpu: CpuStats;
  readonly memory: MemoryStats;
  readonly gpu: unknown;
  readonly disks: readonly DiskStats[];
  readonly network: NetworkStats;
  readonly sensors: readonly unknown[];
  readonly batteries: readonly unknown[];
  readonly boot_time: number;
  readonly service: { readonly node: string };
  readonly recorded: readonly unknown[];
}
const jsonOf = async (path: string) => (await (await get(path)).json()) as Answers;

t.test('status is exactly what the contract says', async (t) => {
  const answer = await get('/api/status');
  t.equal(answer.status, 200);
  t.equal(await answer.text(), '{"status":"ok"}');
});

t.test('[3.windows] usage: exactly the documented keys, and plausible values', async (t) => {
  let usage = await jsonOf('/api/usage');
  // The first answers about speeds may still be on their way.
  for (let tries = 0; usage.cpu.current_speed === 0 && tries < 50; tries++) {
    await sleep(100);
    usage = await jsonOf('/api/usage');
  }
  t.same(Object.keys(usage), ['timestamp', 'uptime', 'cpu', 'memory', 'gpu', 'disks', 'network']);
  t.same(Object.keys(usage.cpu), ['current_load', 'current_temp', 'current_speed']);
  t.same(Object.keys(usage.memory), ['used', 'free', 'used_percent']);
  t.same(Object.keys(usage.network), ['bytesSent', 'bytesRecv']);
  for (const disk of usage.disks) t.same(Object.keys(disk), ['fs', 'used', 'available', 'used_percent']);
  t.ok(Math.abs(usage.timestamp - Date.now() / 1000) < 10);
  t.ok(Math.abs(usage.uptime - os.uptime()) < 120, `up for ${usage.uptime} s`);
  t.ok(usage.cpu.current_load >= 0 && usage.cpu.current_load <= 100);
  t.equal(usage.cpu.current_temp, 0);
  t.ok(usage.cpu.current_speed > 0.1 && usage.cpu.current_speed < 10);
  t.ok(Math.abs(usage.memory.used + usage.memory.free - os.totalmem()) < os.totalmem() / 1000);
  t.equal(usage.gpu, null);
  t.ok(usage.disks.length >= 2);
  t.same(Object.keys(await jsonOf('/api/usage?fields=memory')), ['timestamp', 'uptime', 'memory']);
});

t.test('detail shows no false 0', async (t) => {
  const usage = await jsonOf('/api/usage?detail=1');
  t.match(usage, { cpu: { current_temp: null, temperature: null, load_average: null, pressure: null } });
  t.match(usage.memory, { swap: null, cached: null, pressure: null });
  t.same([usage.sensors, usage.batteries], [[], []]);
});

t.test('system', async (t) => {
  const system = await jsonOf('/api/system?detail=1');
  t.match(system, { platform: 'win32', os: { arch: 'x64' }, cpu: { cores: os.cpus().length } });
  t.match(system.service.node, /^v2\d\./);
  t.ok(Math.abs(Date.now() / 1000 - system.boot_time - os.uptime()) < 120);
});

t.test('the stream: one line per interval, the first immediately, and figures that change', async (t) => {
  const stream = await EventStream.open(service.port, '/api/stream?fields=cpu,network');
  t.equal(stream.head.status, 200);
  const events = [await stream.next(), await stream.next(), await stream.next()];
  for (const event of events) t.match(event.text, /^data: \{.*\}$/);
  const [first, second, third] = events;
  const apart = ((third?.atMs ?? 0) - (first?.atMs ?? 0)) / 1000;
  t.ok(apart > 1 && apart < 8, `${apart} s for two intervals of 1 s`);
  const payload = JSON.parse(second?.text.slice(6) ?? '');
  t.same(Object.keys(payload), ['timestamp', 'uptime', 'cpu', 'network']);
  stream.connection.destroy();
});

t.test('twenty subscribers get the same bytes', async (t) => {
  const streams = await Promise.all(
    Array.from({ length: 20 }, () => EventStream.open(service.port, '/api/stream')),
  );
  const events = await Promise.all(
    streams.map(async (stream) => {
      await stream.next();
      return (await stream.next()).text;
    }),
  );
  t.ok(new Set(events).size <= 2, 'they hear of the same tick, or of two neighbours');
  for (const stream of streams) stream.connection.destroy();
});

t.test('power is recorded, not carried out', async (t) => {
  const answer = await fetch(`${service.baseUrl}/api/pw/sleep`, { method: 'POST' });
  t.equal(answer.status, 200);
  t.same(await answer.json(), { status: 'ok', message: 'Command initiated' });
  const refused = await fetch(`${service.baseUrl}/api/pw/shutdown`, { method: 'POST' });
  t.equal(refused.status, 403, 'off by default');
  await new Promise((resolve) => setTimeout(resolve, 600));
  const { recorded } = await jsonOf('/api/pw');
  t.match(recorded, [{ action: 'sleep' }]);
});

t.test('errors are the same as everywhere', async (t) => {
  t.equal((await get('/api/none')).status, 404);
  const answer = await fetch(`${service.baseUrl}/api/usage`, { method: 'DELETE' });
  t.equal(answer.status, 405);
});

t.test('Ctrl+C ends it, with open streams, within a second or so', async (t) => {
  const stream = await EventStream.open(service.port);
  await stream.next();
  const { code, tookMs } = await service.stop();
  t.equal(code, 0);
  t.ok(tookMs < 5000, `${Math.round(tookMs)} ms`);
});
