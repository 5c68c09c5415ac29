/** Agents that dial in and send as fast as they can: each is cut, and the others notice nothing. */
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { DialPace } from '#src/agent/transports/websocket/machine-pace.js';
import { ask } from '../../helpers/clients/http.ts';
import { until } from '../../helpers/until.ts';
import { isUp, startHub } from '../../hub/setup.ts';
import { Dialler, dialled } from './setup.ts';

t.setTimeout(280_000);

const FLOODED = { code: 1008, reason: 'the agent sends more than the hub takes' };
/** Far more than the burst of 400. */
const FRAMES = 20_000;

const sampleOf = (n: number) =>
  [
    JSON.stringify({ v: 1, run: 'run1', clock: 5 + n, n, plain: ['cpu'] }),
    `"timestamp":${n},"uptime":2`,
    '"cpu":{"current_load":1}',
  ].join('\n');

async function enter(t: Test, port: number, id: string): Promise<Dialler> {
  const agent = new Dialler(t, port);
  await agent.claim({ id });
  await agent.next('proof');
  agent.say('status', { state: 'online', run: 'run1' });
  return agent;
}

for (const [name, send] of [
  ['messages', (agent) => agent.socket.send('x\n')],
  ['samples', (agent, n) => agent.say('sample', sampleOf(n))],
  ['feedback', (agent) => agent.say('feedback/testhub', '{"id":"x"}')],
  ['parts', (agent) => agent.socket.send(Buffer.from([0, 120, 10]))],
  ['pings', (agent) => agent.socket.ping()],
  ['pongs', (agent) => agent.socket.pong()],
] satisfies [string, (agent: Dialler, n: number) => void][])
  t.test(`[I.hub.dial.pace] an agent that floods the hub with ${name}`, async (t) => {
    const hub = await startHub(t, { pc: dialled(), nas: dialled() });
    const nas = await enter(t, hub.port, 'nas');
    await hub.host('nas', isUp);
    const opening = hub.open('/api/hosts/nas/stream?fields=cpu');
    await nas.next('want');
    nas.say('sample', sampleOf(0));
    const viewer = await opening;
    const enteredAtMs = performance.now();
    const pc = await enter(t, hub.port, 'pc');
    await hub.host('pc', isUp);
    const watching = hub.open('/api/hosts/pc/stream?fields=cpu');
    await pc.next('want');
    pc.say('sample', sampleOf(0));
    const watched = await watching;
    for (let n = 1; n <= FRAMES; n++) {
      send(pc, n);
      if (n % 1000 > 0) continue;
      // The sent bytes leave, and the honest agent has its turn.
      await turn();
      nas.say('sample', sampleOf(n));
      if ((await ask(hub.port, '/api/status')).status !== 200) t.fail('the hub does not answer');
    }
    t.same(await pc.end(), FLOODED);
    t.match(await hub.host('pc'), { state: 'down', reason: 'its agent exceeded the rate limit' });
    t.match(hub.log.join(''), /the agent pc exceeded the rate limit and was disconnected/);
    const max = 402 + (20 * (performance.now() - enteredAtMs)) / 1000;
    t.ok(watched.count() <= max, `${watched.count()} of ${FRAMES} samples were passed on, at most ${max}`);
    // Samples that arrive faster than they are sent are skipped.
    await until(() => {
      viewer.count();
      return viewer.events.at(-1)?.text.includes(`"timestamp":${FRAMES},`) ? true : undefined;
    });
    t.pass('the newest sample of the honest agent has arrived');

    const again = new Dialler(t, hub.port);
    await again.claim();
    // Fewer than a burst, and more than what comes back within 14 s.
    for (let n = 0; n < 300; n++) again.socket.ping(() => undefined);
    t.same(await again.end(), FLOODED, 'a new connection has no new burst');
  });

t.test('[I.hub.dial.pace] an agent that has flooded the hub is taken again', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const pc = await enter(t, hub.port, 'pc');
  for (let n = 0; n < 1000; n++) pc.socket.ping();
  t.same(await pc.end(), FLOODED);
  await until(async () => {
    const later = new Dialler(t, hub.port);
    await later.claim();
    await until(() => later.on('proof')[0] ?? later.closed);
    if (later.closed !== undefined) return undefined;
    later.say('status', { state: 'online', run: 'run1' });
    return true;
  });
  await hub.host('pc', isUp);
});

t.test('[I.hub.dial.pace] an honest agent stays within its pace', async (t) => {
  let nowMs = 0;
  const pace = new DialPace(nowMs);
  const take = (frames: number, bytes: number) => {
    for (let i = 0; i < frames; i++) if (!pace.take(bytes / frames, nowMs)) t.fail(`at ${nowMs} ms`);
  };
  for (; nowMs < 3600_000; nowMs += 1000) take(16, 2 ** 20);
  for (let second = 0; second < 60; second++, nowMs += 1000)
    for (let answer = 0; answer < 20; answer++) {
      pace.expectAnswer();
      take(22, 2 ** 20);
    }
  t.notOk(pace.isSpent(nowMs));
  // Answers to requests that the hub has sent all together.
  for (let answer = 0; answer < 32; answer++) pace.expectAnswer();
  for (let answer = 0; answer < 32; answer++) take(22, 2 ** 20);
  for (let i = 0; i < 2000; i++) pace.take(0, nowMs);
  t.ok(pace.isSpent(nowMs), 'nobody has unlimited frames');
});
