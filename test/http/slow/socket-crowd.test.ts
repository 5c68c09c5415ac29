/**
 * A crowd of sockets of which some never read: the others miss nothing, memory stays, and slow readers get their
 * answers without a gap, up to a close with 1008. With HOSTWIRE_FULL=1 ten thousand of them for two minutes.
 */
import '../../helpers/service/dead-buses.ts';
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { anonymousPssBytesOf } from '../../../bench/cpu.ts';
import { Sink } from '../../../bench/fanout-subjects.ts';
import { SocketClient } from '../../helpers/clients/socket.ts';
import { startService } from '../../helpers/service/service.ts';
import { socketsOf } from '../open-sockets.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const SIZE = IS_FULL
  ? { healthy: 8980, stalled: 1000, owed: 20, seconds: 120, warmUpSeconds: 20 }
  : { healthy: 440, stalled: 50, owed: 5, seconds: 10, warmUpSeconds: 4 };
const SMALL_BUFFER = 4096;
const MAX_GROWTH_MIB = 8;
const GONE_WITHIN_SECONDS = 90;
/** Two messages each: fewer than the 20 per second that are allowed. */
const ROUND_MS = 120;
const ROUNDS = 28;

t.setTimeout(600_000);
const hasGcc = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;

/** Reads once per second the service's memory, and notes when no more than `goneAtSockets` were open. */
async function watch(pid: number, goneAtSockets: number) {
  const memory: number[] = [];
  let goneAfter: number | undefined;
  const startedAt = performance.now();
  for (let second = 1; second <= SIZE.seconds; second++) {
    await sleep(startedAt + second * 1000 - performance.now());
    memory.push(anonymousPssBytesOf(pid) / 2 ** 20);
    if (goneAfter === undefined && socketsOf(pid) <= goneAtSockets) goneAfter = second;
  }
  const warm = memory[SIZE.warmUpSeconds - 1] ?? Number.NaN;
  return { grown: Math.max(...memory.slice(SIZE.warmUpSeconds)) - warm, goneAfter };
}

/** Asks for long lists and for commands without reading, then reads; returns the answers that arrived. */
async function owe(client: SocketClient) {
  client.ws.pause();
  for (let round = 0; round < ROUNDS; round++) {
    client.say('process_list', { grouped: false, limit: 1000 }, 2 * round);
    client.say('media', { action: 'stop' }, 2 * round + 1);
    await sleep(ROUND_MS);
  }
  client.ws.resume();
  const closed = await Promise.race([client.closed, client.settle()]);
  const answers = client.told.filter(({ type, data }) =>
    type === 'media_feedback' ? data['final'] === true : type === 'process_list',
  );
  const commands = answers.filter(({ type }) => type === 'media_feedback').map(({ id }) => Number(id));
  return { closed: 'code' in closed ? closed : undefined, commands, answers: answers.length };
}

t.test(
  `[7.limit-slow-stats] [7.limit-slow-feedback] ${SIZE.healthy} sockets beside ${SIZE.stalled} that never read and ${SIZE.owed} that are owed answers`,
  { skip: !hasGcc && 'needs gcc for the sink', timeout: 600_000 },
  async (t) => {
    const service = await startService({ config: { stats: { stream_interval_seconds: 1 } } });
    const healthy = new Sink(service.port, '/api/ws');
    const stalled = new Sink(service.port, '/api/ws', SMALL_BUFFER);
    const owed: SocketClient[] = [];
    t.teardown(async () => {
      for (const client of owed) client.cut();
      await Promise.all([healthy, stalled].map((sink) => sink.stop()));
      await service.stop();
    });
    await healthy.open(SIZE.healthy);
    await stalled.open(SIZE.stalled);
    await stalled.stall(SIZE.stalled);
    const sockets = socketsOf(service.pid);
    for (let i = 0; i < SIZE.owed; i++) owed.push(await SocketClient.open(service.port));
    const [fed, paid, { grown, goneAfter }] = await Promise.all([
      healthy.window(SIZE.seconds),
      Promise.all(owed.map(owe)),
      watch(service.pid, sockets - SIZE.stalled + SIZE.owed),
    ]);
    t.match(
      fed,
      { open: SIZE.healthy, torn: 0, doubled: 0, missed: 0, backwards: 0, alone: 0, lost: 0 },
      'the healthy miss nothing, get nothing twice and nothing torn',
    );
    t.ok(fed.fewest >= SIZE.seconds - 1, `each got at least ${fed.fewest} in ${SIZE.seconds} s`);
    t.ok(fed.most <= SIZE.seconds + 1, `and at most ${fed.most}`);
    for (const { closed, commands } of paid) {
      t.strictSame(
        commands,
        commands.map((_, i) => 2 * i + 1),
        'answers come in order and without a gap',
      );
      if (closed === undefined) t.equal(commands.length, ROUNDS, 'who is not closed has all of them');
      else t.match(closed, { code: 1008, reason: 'too slow for its answers' });
    }
    const closes = paid.filter(({ closed }) => closed !== undefined).length;
    t.ok(closes > 0, `${closes} of ${SIZE.owed} could not be kept waiting, and were closed with 1008`);
    t.ok(grown <= MAX_GROWTH_MIB, `memory grew by ${grown.toFixed(1)} MiB`);
    t.comment(
      `figure: ${fed.events} samples to the healthy, none missed; ${closes} of ${SIZE.owed} that were owed too much closed with 1008, no answer lost before; ${grown.toFixed(1)} MiB more memory`,
    );
    if (!IS_FULL) return;
    t.comment(`figure: clients that never read were gone after ${goneAfter} s`);
    t.ok((goneAfter ?? Number.POSITIVE_INFINITY) <= GONE_WITHIN_SECONDS, 'the stalled are gone within 90 s');
  },
);
