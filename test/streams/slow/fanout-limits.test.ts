/** Many subscribers, over real sockets: one send per event. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { Sink } from '../../../bench/fanout-subjects.ts';
import { serveProgram } from '../../helpers/service/service.ts';

/** Traced, a send takes ten times as long, and all of them must fit into a tick. */
const TRACED = 1000;
const has = (command: string) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

t.setTimeout(600_000);

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

const skipTrace = (!has('gcc') && 'needs gcc for the sink') || (!has('strace') && 'needs strace');

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
  const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
  const sink = new Sink(service.port);
  t.teardown(() => sink.stop());
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
