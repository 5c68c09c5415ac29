/** Agents that send without an end, in the smallest pieces: each is cut, shown with the reason and left alone for a while. */
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Bucket } from '#src/fairness/rate.js';
import { ask } from '../helpers/clients/http.ts';
import { until } from '../helpers/until.ts';
import { frameOf } from './played-machine.ts';
import { isDown, isUp, PlayedMachine, type StartedHub, startHub, watch } from './setup.ts';

t.setTimeout(280_000);

const SAMPLE = { timestamp: 1, uptime: 2 };
/** An attacker gives up then. */
const MAX_SENT_BYTES = 24 * 2 ** 20;

/** A hub with a hostile agent and an honest one, both watched. */
async function besieged(t: Test, times: Parameters<typeof startHub>[3] = {}) {
  const [hostile, honest] = [await PlayedMachine.start(t), await PlayedMachine.start(t)];
  const agents = { hostile: { url: hostile.url }, honest: { url: honest.url } };
  const hub = await startHub(t, agents, {}, { floodMs: 600_000, ...times });
  await hub.host('honest', isUp);
  const watching = watch(hub, 'honest');
  await until(() => honest.streams > 0);
  honest.sample(SAMPLE);
  return { hub, hostile, honest, viewer: await watching };
}

/** The viewer of the honest agent gets its next sample, and the hub answers. */
async function serves(t: Test, { hub, honest, viewer }: Awaited<ReturnType<typeof besieged>>) {
  const before = viewer.count();
  honest.sample(SAMPLE);
  await until(() => viewer.count() > before);
  if ((await ask(hub.port, '/api/status')).status !== 200) t.fail('the hub does not answer');
}

/** Opens a stream of the hostile agent, which the viewer may lose at any time. */
async function begin(hub: StartedHub, hostile: PlayedMachine): Promise<void> {
  await hub.host('hostile', isUp);
  void hub.open('/api/hosts/hostile/stream').catch(() => undefined);
  await until(() => hostile.streams > 0);
}

for (const [name, text] of [
  ['samples', frameOf('system_stats', SAMPLE)],
  ['answers to nothing', frameOf('answer', { body: {} }, 'nothing')],
  ['unknown messages', frameOf('x', {})],
  ['long messages', frameOf('x', { y: 'y'.repeat(500_000) })],
] as const)
  t.test(`[I.hub.hostile] ${name} without an end`, async (t) => {
    const siege = await besieged(t);
    const { hub, hostile } = siege;
    await begin(hub, hostile);
    let sent = 0;
    for (let bytes = 0; hostile.open > 0 && bytes < MAX_SENT_BYTES; bytes += text.length) {
      hostile.send(text);
      if (++sent % 50 === 0) await turn();
      if (sent % 500 === 0) await serves(t, siege);
    }
    await until(() => hostile.open === 0);
    t.match(await hub.host('hostile', isDown), { reason: 'it sends more than the hub takes' });
    t.match(hub.log.join(''), /host hostile is down: /);
    await serves(t, siege);
  });

t.test('[I.hub.hostile] an agent that has flooded the hub is tried again, later', async (t) => {
  const { hub, hostile } = await besieged(t, { floodMs: 1000 });
  await begin(hub, hostile);
  const begun = hostile.connections;
  const sentAtMs = performance.now();
  for (let sent = 0; sent < 1000; sent++) hostile.send(frameOf('x', {}));
  await until(() => hostile.connections > begun);
  t.ok(performance.now() - sentAtMs > 490, `${performance.now() - sentAtMs} ms`);
  await hub.host('hostile', isUp);
});

t.test('an allowance has a rate, a burst, and what is granted', async (t) => {
  const allowance = new Bucket({ perSecond: 10, burst: 20 }, 0);
  t.equal(allowance.take(20, 0), 0);
  t.equal(allowance.take(1, 0), -1, 'exceeded');
  t.equal(allowance.take(1, 200), 0, 'two are added in 200 ms');
  t.equal(allowance.take(0, 60_000), 20, 'no more than the burst');
  allowance.grant(30, 40);
  t.equal(allowance.take(0, 120_000), 40, 'no more than the most');
  t.equal(allowance.take(25, 120_000), 15);
  t.equal(allowance.take(0, 120_100), 16, 'the rate again');
});
