/** Agents that send without an end, in the smallest pieces: each is cut, shown with the reason and left alone for a while. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Allowance } from '#src/allowance.js';
import { AgentPace } from '#src/hub/pull/pace.js';
import { ask } from '../helpers/clients/http.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { until } from '../helpers/until.ts';
import { isDown, isUp, PlayedAgent, type StartedHub, startHub, watch } from './setup.ts';

t.setTimeout(280_000);

const SAMPLE = { timestamp: 1, uptime: 2 };
/** An attacker gives up then. */
const MAX_SENT_BYTES = 24 * 2 ** 20;
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** A hub with a hostile agent and an honest one, both watched. */
async function besieged(t: Test, times: Parameters<typeof startHub>[3] = {}) {
  const [hostile, honest] = [await PlayedAgent.start(t), await PlayedAgent.start(t)];
  const agents = { hostile: { url: hostile.url }, honest: { url: honest.url } };
  const hub = await startHub(t, agents, {}, { floodMs: 600_000, ...times });
  await hub.host('honest', isUp);
  const watching = watch(hub, 'honest');
  await until(() => (honest.streams > 0 ? true : undefined));
  honest.sample(SAMPLE);
  return { hub, hostile, honest, viewer: await watching };
}

/** The viewer of the honest agent gets its next sample, and the hub answers. */
async function serves(t: Test, { hub, honest, viewer }: Awaited<ReturnType<typeof besieged>>) {
  const before = viewer.count();
  honest.sample(SAMPLE);
  await until(() => (viewer.count() > before ? true : undefined));
  if ((await ask(hub.port, '/api/status')).status !== 200) t.fail('the hub does not answer');
}

/** A machine that is tried again is up soon after it was down. */
const logged = async (hub: StartedHub, text: string) =>
  await until(() => (hub.log.some((line) => line.includes(text)) ? true : undefined));

/** Opens a stream of the hostile agent, which the viewer may lose at any time. */
async function begin(hub: StartedHub, hostile: PlayedAgent): Promise<void> {
  await hub.host('hostile', isUp);
  void hub.open('/api/hosts/hostile/stream').catch(() => undefined);
  await until(() => (hostile.streams > 0 ? true : undefined));
}

for (const [name, block, reason] of [
  [
    'tiny events',
    chunked('data: {"timestamp":1}\n\n'.repeat(3000)),
    'it sends more events than an agent does',
  ],
  ['comments', chunked(':\n\n'.repeat(20_000)), 'it sends more events than an agent does'],
  ['chunks of one byte', chunked(' ').repeat(10_000), /^it sends more bytes, or in smaller pieces/],
] as const)
  t.test(`[I.hub.hostile] ${name} without an end`, async (t) => {
    const siege = await besieged(t);
    const { hub, hostile } = siege;
    await begin(hub, hostile);
    // The line of an event, which the chunks of one byte are of.
    hostile.send(name === 'chunks of one byte' ? chunked('data: {') : '');
    let sent = 0;
    for (; hostile.streams > 0 && sent < MAX_SENT_BYTES; sent += block.length) {
      hostile.send(block);
      await turn();
      if (sent % (8 * block.length) === 0) await serves(t, siege);
    }
    t.equal(hostile.streams, 0, `cut after ${sent} bytes`);
    t.match(await hub.host('hostile', isDown), { reason });
    t.match(hub.log.join(''), /host hostile is down: it sends more/);
    await serves(t, siege);
  });

t.test('[I.hub.hostile] an agent that has flooded the hub is tried again, later', async (t) => {
  const { hub, hostile } = await besieged(t, { floodMs: 1000 });
  await begin(hub, hostile);
  const begun = hostile.requests.length + hostile.checks;
  const sentAtMs = performance.now();
  hostile.send(chunked(':\n\n'.repeat(1000)));
  await until(() => (hostile.requests.length + hostile.checks > begun ? true : undefined));
  t.ok(performance.now() - sentAtMs > 490, `${performance.now() - sentAtMs} ms`);
  // One that is still watched is up with its first sample.
  await hub.host('hostile', (row) => {
    hostile.sample(SAMPLE);
    return isUp(row);
  });
});

t.test('[I.hub.hostile] a head of one byte per read has the time of a head', async (t) => {
  const siege = await besieged(t, { headMs: 500 });
  const { hub, hostile } = siege;
  hostile.opening = 'HTTP/1.1 200 OK\r\nX: ';
  await begin(hub, hostile);
  let sent = 0;
  for (; hostile.streams > 0 && sent < 2000; sent++) {
    hostile.send('a');
    await sleep(5);
  }
  t.equal(hostile.streams, 0, `cut after ${sent} bytes`);
  await logged(hub, 'host hostile is down: it does not answer');
  await serves(t, siege);
});

t.test('[I.hub.hostile] an event that never ends is not waited for', async (t) => {
  // An event is given up after three times this long, and a busy machine must not be taken for a silent agent.
  const siege = await besieged(t, { silenceMs: 1000 });
  const { hub, hostile, honest } = siege;
  // Silence is short for it too.
  const beat = setInterval(() => honest.sample(SAMPLE), 50);
  t.teardown(() => clearInterval(beat));
  await begin(hub, hostile);
  hostile.send(chunked('data: {"a":"'));
  let sent = 0;
  for (; hostile.streams > 0 && sent < 5000; sent++) {
    hostile.send(chunked('x'));
    await sleep(20);
  }
  t.equal(hostile.streams, 0, `cut after ${sent} bytes`);
  await logged(hub, 'host hostile is down: an event of the stream takes too long');
});

t.test('an allowance has a rate, a burst, and what is granted', async (t) => {
  const allowance = new Allowance({ perSecond: 10, burst: 20 }, 0);
  t.equal(allowance.take(20, 0), 0);
  t.equal(allowance.take(1, 0), -1, 'exceeded');
  t.equal(allowance.take(1, 200), 0, 'two are added in 200 ms');
  t.equal(allowance.take(0, 60_000), 20, 'no more than the burst');
  allowance.grant(30, 40);
  t.equal(allowance.take(0, 120_000), 40, 'no more than the most');
  t.equal(allowance.take(25, 120_000), 15);
  t.equal(allowance.take(0, 120_100), 16, 'the rate again');
});

t.test('[I.hub.agents] the largest machine stays within the pace of an agent', async (t) => {
  const clock = new FakeClock();
  const pace = new AgentPace(clock.now);
  const receive = (bytes: number, segmentBytes: number) => {
    for (let left = bytes; left > 0; left -= segmentBytes) pace.takePiece(Math.min(left, segmentBytes));
    pace.takePiece();
  };
  for (let second = 0; second < 3600; second++) {
    receive(700_000, 536);
    pace.takeEvent();
    await clock.advance(1000);
  }
  await clock.advance(10_000);
  receive(4 * 2 ** 20, 1460);
  await clock.advance(60_000);
  for (let event = 0; event < 60; event++) pace.takeEvent();
  t.throws(() => {
    for (let event = 0; event < 1000; event++) pace.takeEvent();
  }, /more events/);
});
