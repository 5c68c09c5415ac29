/** Many subscribers, over real sockets: one send per event, and few descriptors. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { cpuNsOf } from '../../../bench/cpu.ts';
import { Sink } from '../../../bench/fanout-subjects.ts';
import { ask } from '../../helpers/clients/http.ts';
import { type ServiceProcess, serveProgram, withDescriptors } from '../../helpers/service/service.ts';

/** Traced, a send takes ten times as long, and all of them must fit into a tick. */
const TRACED = 1000;
const has = (command: string) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** The service as a program, one event per second, with at most `descriptors` open. */
async function start(t: Test, descriptors?: number): Promise<ServiceProcess> {
  return await serveProgram(t, {
    config: { stats: { stream_interval_seconds: 1 } },
    ...(descriptors !== undefined && { start: withDescriptors(descriptors) }),
  });
}

function openSink(t: Test, port: number): Sink {
  const sink = new Sink(port);
  t.teardown(() => sink.stop());
  return sink;
}

t.setTimeout(600_000);

const needs = { skip: !has('gcc') && 'needs gcc for the sink' };

interface Send {
  readonly fd: string;
  /** Its whole text: two samples may fall into one second. */
  readonly event: string;
  readonly sent: number;
}

/** The events among the sends that strace saw, and the lines of all other sends. */
function sendsIn(trace: string) {
  const events: Send[] = [];
  const others: string[] = [];
  for (const line of trace.split('\n')) {
    // A call under way when the tracer detached has no result.
    if (!/\b(?:sendto|sendmsg|writev?)\(/.test(line) || line.includes('<detached')) continue;
    const [, fd = '', event, sent] = /\((\d+), .*(data: \{.*\}\\n).* = (\d+)$/.exec(line) ?? [];
    if (event !== undefined) events.push({ fd, event, sent: Number(sent) });
    // Beside sockets a process writes to eventfds and pipes: eight bytes that wake another thread.
    else if (!/\bwrite\(/.test(line)) others.push(line);
  }
  return { events, others };
}

const skipTrace = needs.skip || (!has('strace') && 'needs strace');

/** Attaches strace to all threads of the service until `stop`, with one file per thread. Returns when it has attached. */
async function attach(pid: number, ...args: readonly string[]) {
  const tracer = spawn('strace', ['-f', '-p', String(pid), ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  await once(tracer.stderr, 'data');
  return async () => {
    tracer.kill('SIGINT');
    await once(tracer, 'exit');
  };
}

t.test(`${TRACED} subscribers: exactly one send per event`, { skip: skipTrace }, async (t) => {
  const service = await start(t);
  const sink = openSink(t, service.port);
  // No call shows what an io_uring sends: the native writer of Node's engine, which starts now, is refused one.
  const refuse = await attach(service.pid, '-e', 'inject=io_uring_setup:error=EPERM', '-o', '/dev/null');
  await sink.open(TRACED);
  await refuse();
  await sink.window(1.2);
  const folder = t.testdir({});
  const calls = 'trace=sendto,sendmsg,sendmmsg,write,writev,sendfile';
  const stop = await attach(service.pid, '-ff', '-s', '1024', '-e', calls, '-o', path.join(folder, 'trace'));
  await sink.window(6.5);
  await stop();
  const trace = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'latin1'));
  const { events, others } = sendsIn(trace.join(''));
  t.equal(others.length, 0, `no send without an event: ${others[0]}`);
  // The tracer attaches and detaches in the middle of a tick: only the ticks in between are complete.
  const ticks = [...new Set(events.map(({ event }) => event))].slice(1, -1);
  t.ok(ticks.length >= 3, `${ticks.length} ticks from their first send to their last`);
  for (const tick of ticks) {
    const sends = events.filter(({ event }) => event === tick);
    t.equal(sends.length, TRACED, `${tick.slice(0, 40)}…: as many sends as subscribers`);
    t.equal(new Set(sends.map(({ fd }) => fd)).size, TRACED, 'one to each');
    t.equal(new Set(sends.map(({ sent }) => sent)).size, 1, 'all of the same length');
  }
});

t.test(
  '[4.descriptors] 1,024 descriptors, 4,000 attempts',
  { skip: needs.skip || (!has('prlimit') && 'needs prlimit') },
  async (t) => {
    const service = await start(t, 1024);
    const sink = openSink(t, service.port);
    await sink.open(600);
    const feeding = sink.window(9);
    await sleep(500);
    const before = cpuNsOf(service.pid);
    const startedAt = performance.now();
    // The first half asks for streams, the second says nothing and waits.
    const sockets = new Set<net.Socket>();
    const statuses = new Map<string, number>();
    for (let i = 0; i < 4000; i++) {
      const socket = net.connect(service.port, '127.0.0.1');
      sockets.add(socket);
      socket.on('error', () => undefined);
      if (i < 2000) {
        socket.write('GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
        socket.once('data', (data) => {
          const status = String(data).slice(9, 12);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status === '503' && !/\r\nRetry-After: \d/.test(String(data))) t.fail('no Retry-After');
        });
      }
      if (i % 100 === 99) await sleep(20);
    }
    await sleep(5000 - (performance.now() - startedAt));
    const cpu = (cpuNsOf(service.pid) - before) / 1e6 / (performance.now() - startedAt);
    t.ok(cpu < 0.25, `${(100 * cpu).toFixed(1)} % of a core`);
    const { torn, doubled, lost, fewest, most, open } = await feeding;
    t.same([torn, doubled, lost, open], [0, 0, 0, 600], 'the streams lost nothing');
    t.ok(fewest >= 8 && most - fewest <= 1, `each got ${fewest} to ${most}`);
    t.comment(`answers: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`);
    t.equal(statuses.get('200'), 768 - 600, 'as many streams as the limit leaves');
    t.ok((statuses.get('503') ?? 0) > 0, 'the others get an answer');
    for (const socket of sockets) socket.destroy();
    await sleep(1000);
    t.equal((await ask(service.port, '/api/status')).status, 200, 'recovered in a second');
  },
);
