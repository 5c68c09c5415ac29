/** Servers of a cluster that are killed, with everything behind the shipped haproxy.cfg: how long viewers see nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { NO_NATS, startBeside } from '../../exporters/mqtt/broker.ts';
import type { EventStream } from '../../helpers/clients/event-stream.ts';
import { ask } from '../../helpers/clients/http.ts';
import { checkTime } from '../../helpers/limits.ts';
import { until } from '../../helpers/until.ts';
import { NO_HAPROXY, startCentre } from '../cluster/proxy.ts';
import { agentPart, startClusterHub, startLeaf } from '../cluster/setup.ts';
import { isUp, watch } from '../setup.ts';

t.setTimeout(1_800_000);

const skip = NO_NATS || NO_HAPROXY;
const ROUNDS = 6;
/** From the end of a fault to the next event: the goal of the hub. */
const MAX_AFTER_MS = 5000;

const mute = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"action":"mute"}' };
const seconds = (ms: number) => (ms / 1000).toFixed(1);

/** Longest time without an event in what came since `fromMs`, until `toMs`. */
function longestGap({ events }: EventStream, fromMs: number, toMs: number): number {
  const times = [fromMs, ...events.map(({ atMs }) => atMs).filter((at) => at > fromMs && at < toMs), toMs];
  return Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? at)));
}

/** Waits, and looks often: an event has the time of the last bytes that were there when it was taken. */
async function look(streams: readonly EventStream[], forMs: number): Promise<void> {
  for (const end = performance.now() + forMs; performance.now() < end; await sleep(20))
    for (const stream of streams) stream.count();
}

/** The time of the first event after `fromMs`. */
const nextAfter = async (stream: EventStream, fromMs: number): Promise<number> =>
  await until(() => {
    stream.count();
    return stream.events.find(({ atMs }) => atMs > fromMs)?.atMs;
  });

t.test('[I.hub.cluster.killed] one of three killed, and started again', { skip }, async (t) => {
  const { ca, servers, proxy } = await startCentre(t);
  const { media, service } = await startBeside(t, {
    mqtt: agentPart(proxy.mqttPort, 'pc', ca),
    stats: { stream_interval_seconds: 1 },
  });
  const hubs = [
    await startClusterHub(t, proxy.mqttPort, 'hub1', ca),
    await startClusterHub(t, proxy.mqttPort, 'hub2', ca),
  ];
  const streams: EventStream[] = [];
  for (const hub of hubs) streams.push(await watch(hub, 'pc', '?fields=cpu'));
  let done = 0;
  const gaps: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { name, broker } = servers[round % servers.length] ?? {};
    if (broker === undefined) throw new Error('three servers');
    for (const stream of streams) await nextAfter(stream, performance.now());
    const killedAt = performance.now();
    await broker.kill('SIGKILL');
    // With two of three servers everything continues.
    await look(streams, 30_000);
    const goneOn = await Promise.all(streams.map((stream) => nextAfter(stream, performance.now())));
    const gap = Math.max(...streams.map((stream, i) => longestGap(stream, killedAt, goneOn[i] ?? killedAt)));
    gaps.push(gap);
    for (const hub of hubs) {
      await hub.host('pc', isUp);
      if ((await ask(hub.port, '/api/hosts/pc/media/control', mute)).status === 200) done++;
    }
    const startedAt = performance.now();
    await broker.start();
    const after = await Promise.all(streams.map((stream) => nextAfter(stream, performance.now())));
    checkTime(
      t,
      Math.max(...after) - startedAt,
      MAX_AFTER_MS,
      'from the start of the server to the next event',
    );
    await look(streams, 10_000);
    const backGap = Math.max(
      ...streams.map((stream) => {
        stream.count();
        return longestGap(stream, startedAt, performance.now());
      }),
    );
    t.comment(
      `${name}: nothing for ${seconds(gap)} s after its death, ${seconds(backGap)} s after its start`,
    );
  }
  t.equal(done, 2 * ROUNDS, 'commands are done with two of three');
  t.equal(media.controls.length, done, 'once each');
  t.notMatch(service.stderr(), /refuses/);
  const sorted = gaps.toSorted((a, b) => a - b);
  t.comment(
    `figure: ${ROUNDS} servers of a cluster of three killed: viewers without an event for ${seconds(sorted[0] ?? 0)} to ${seconds(sorted.at(-1) ?? 0)} s`,
  );
});

t.test('[I.hub.leaf.killed] the server of a site killed, and its way out', { skip }, async (t) => {
  const { authority, ca, servers, proxy } = await startCentre(t);
  const leaf = await startLeaf(t, authority, proxy.leafPort);
  await startBeside(t, { mqtt: agentPart(leaf.port, 'pc', ca), stats: { stream_interval_seconds: 1 } });
  const [first] = servers;
  if (first === undefined) throw new Error('three servers');
  const hub = await startClusterHub(t, first.broker.port, 'hub1', ca);
  const stream = await watch(hub, 'pc', '?fields=cpu');
  const took: number[] = [];
  for (let round = 0; round < 3; round++) {
    await nextAfter(stream, performance.now());
    await leaf.kill('SIGKILL');
    await hub.host('pc', ({ state }) => state === 'down');
    const startedAt = performance.now();
    await leaf.start();
    took.push((await nextAfter(stream, performance.now())) - startedAt);
  }
  checkTime(t, Math.max(...took), MAX_AFTER_MS, 'from the start of the server to the next event');
  t.comment(
    `figure: the server of a site killed: the next event ${took.map(seconds).join(', ')} s after its start`,
  );
});
