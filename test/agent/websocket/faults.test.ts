/** Connections of agents that end, fall silent, or come twice: what viewers see, and how long it takes. */
import net from 'node:net';
import process from 'node:process';
import t, { type Test } from 'tap';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { until } from '../../helpers/until.ts';
import { isDown, isUp, startHub, watch } from '../../hub/setup.ts';
import { Dialler, dialled, OTHER_KEY, startAgent } from './setup.ts';

t.setTimeout(280_000);

/** Maximum time from the end of a fault until streams continue. */
const BACK_MS = 5000;
/** Margin of a test on a busy machine. */
const MARGIN_MS = 2000;

/** A proxy to the hub that can be cut silently: nothing passes, and no connection is closed. */
async function startProxy(t: Test, port: number) {
  const pairs = new Set<readonly net.Socket[]>();
  const server = net.createServer((left) => {
    const right = net.connect(port, '127.0.0.1');
    const pair = [left, right];
    pairs.add(pair);
    for (const each of pair) each.on('error', () => undefined).on('close', () => pairs.delete(pair));
    left.pipe(right);
    right.pipe(left);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const end = (pair: readonly net.Socket[]) => pair.forEach((each) => each.destroy());
  t.teardown(() => {
    server.close();
    pairs.forEach(end);
  });
  return {
    // It listens on a port.
    port: (server.address() as net.AddressInfo).port,
    get size() {
      return pairs.size;
    },
    freeze() {
      for (const [left, right] of pairs) {
        left?.unpipe().pause();
        right?.unpipe().pause();
      }
    },
    cut: () => pairs.forEach(end),
  };
}

t.test('[I.hub.dial.cut] streams continue within 5 s of a cut', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const proxy = await startProxy(t, hub.port);
  await startAgent(t, `ws://127.0.0.1:${proxy.port}`);
  const stream = await watch(hub, 'pc');
  for (let round = 0; round < 3; round++) {
    await stream.next();
    proxy.cut();
    await hub.host('pc', isDown);
    const cutAtMs = performance.now();
    await hub.host('pc', isUp);
    await stream.next();
    t.ok(performance.now() - cutAtMs < BACK_MS + MARGIN_MS, `${performance.now() - cutAtMs} ms`);
  }
});

t.test('[I.hub.dial.silent] a connection that is cut without a word is noticed by both', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const proxy = await startProxy(t, hub.port);
  const agent = await startAgent(t, `ws://127.0.0.1:${proxy.port}`);
  await hub.host('pc', isUp);
  proxy.freeze();
  const frozenAtMs = performance.now();
  await until(
    () =>
      /lost connection to .* \(no message from the hub within the timeout/.exec(agent.stderr()) ?? undefined,
  );
  const agentMs = performance.now() - frozenAtMs;
  t.ok(agentMs < 20_000 + MARGIN_MS, `the agent: ${agentMs} ms`);
  // New connections pass.
  await until(() => hub.log.some((line) => /host pc is down/.test(line)) || undefined);
  await hub.host('pc', isUp);
  t.ok(performance.now() - frozenAtMs < 20_000 + BACK_MS + MARGIN_MS);
});

t.test('[I.hub.dial.stopped] a stopped agent is down, and up again when it continues', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const agent = await startAgent(t, `ws://127.0.0.1:${hub.port}`);
  await hub.host('pc', isUp);
  process.kill(agent.pid, 'SIGSTOP');
  const stoppedAtMs = performance.now();
  await hub.host('pc', isDown);
  t.ok(performance.now() - stoppedAtMs < 20_000 + MARGIN_MS);
  const answer = await ask(hub.port, '/api/hosts/pc/pw');
  t.match(jsonOf(answer), { code: 'host_unreachable' });
  process.kill(agent.pid, 'SIGCONT');
  const wokenAtMs = performance.now();
  await hub.host('pc', isUp);
  t.ok(performance.now() - wokenAtMs < BACK_MS + MARGIN_MS, `${performance.now() - wokenAtMs} ms`);
});

t.test('[I.hub.dial.twice] one id has one machine', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const first = new Dialler(t, hub.port);
  await first.enter('run1');
  await hub.host('pc', isUp);
  const beat = setInterval(() => first.socket.ping(), 1000);
  t.teardown(() => clearInterval(beat));
  const second = new Dialler(t, hub.port);
  await second.claim({ run: 'run2' });
  t.same(await second.end(), { code: 1008, reason: 'another machine has this id' });
  t.equal(first.closed, undefined, 'the first one stays');
  t.match(hub.log.join(''), /two machines dial in as pc/);
  const again = new Dialler(t, hub.port);
  await again.enter('run1');
  t.match(await first.end(), { reason: 'a newer connection of this agent has taken its place' });
  await hub.host('pc', isUp);
  clearInterval(beat);
  const waited = performance.now();
  const next = await until(async () => {
    const other = new Dialler(t, hub.port);
    await other.claim({ run: 'run3' });
    await until(() => other.on('proof')[0] ?? other.closed);
    return other.closed === undefined ? other : undefined;
  });
  t.ok(performance.now() - waited < 10_000, 'one that says nothing makes way');
  t.match(await again.end(), { reason: 'a newer connection of this agent has taken its place' });
  next.say('status', { state: 'online', run: 'run3' });
  await hub.host('pc', isUp);
});

t.test('[I.hub.dial.lost] a command sent to an agent that is lost has no known outcome', async (t) => {
  const commands = { all: { commands: ['*'], labels: {} } };
  const hub = await startHub(t, { pc: dialled() }, { hub: { commands } });
  const agent = new Dialler(t, hub.port);
  await agent.enter();
  await hub.host('pc', isUp);
  const asking = ask(hub.port, '/api/hosts/pc/pw/sleep', { method: 'POST' });
  const { id = '' } = await agent.next('cmd/get');
  const clock = { run: 'run1', clock: 5 };
  const answer = { command: 'get', id, stage: 'done', success: true, message: 'Done', result: {}, ...clock };
  agent.say('feedback/testhub', answer);
  await agent.next('cmd/power/sleep');
  agent.socket.terminate();
  t.match(jsonOf(await asking), { code: 'outcome_unknown' });
  t.equal(agent.on('cmd/power/sleep').length, 1, 'sent once');
});

t.test('[I.hub.dial.long] an answer of several frames, and one that never ends', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const agent = new Dialler(t, hub.port);
  await agent.enter();
  await hub.host('pc', isUp);
  const asking = ask(hub.port, '/api/hosts/pc/pw');
  const { id = '' } = await agent.next('cmd/get');
  const result = { text: 'ä'.repeat(100_000) };
  const clock = { run: 'run1', clock: 5 };
  const said = { command: 'get', id, stage: 'done', success: true, message: 'Done', ...clock, result };
  const bytes = Buffer.from(`feedback/testhub\n${JSON.stringify(said)}`);
  for (let at = 0; at < bytes.length; at += 40_000) {
    const mark = at + 40_000 < bytes.length ? 1 : 0;
    agent.socket.send(Buffer.concat([Buffer.from([mark]), bytes.subarray(at, at + 40_000)]));
  }
  t.same(jsonOf(await asking), result);
  for (let i = 0; i < 30; i++) agent.socket.send(Buffer.alloc(48 * 1024, 1));
  t.same(await agent.end(), { code: 1008, reason: 'a message is malformed' });
});

t.test('[I.hub.dial.reload-hub] a reload changes one entry, and leaves the others', async (t) => {
  const agents = { pc: dialled(), nas: dialled() };
  const hub = await startHub(t, agents);
  const [pc, nas] = [new Dialler(t, hub.port), new Dialler(t, hub.port)];
  await pc.enter();
  await nas.claim({ id: 'nas' });
  await nas.next('proof');
  nas.say('status', { state: 'online', run: 'run1' });
  await hub.host('nas', isUp);
  hub.reconfigure({ ...agents, pc: { ...agents.pc, labels: { site: 'berlin' } } });
  t.match(await hub.host('pc', isUp), { labels: { site: 'berlin' } });
  hub.reconfigure({ ...agents, pc: dialled(OTHER_KEY) });
  t.match(await pc.end(), { reason: 'the entry in hub.agents has changed' });
  hub.reconfigure({ nas: agents.nas });
  await until(async () => (await hub.hosts()).length === 1);
  const gone = new Dialler(t, hub.port);
  await gone.claim();
  t.equal((await gone.end()).code, 1008);
  t.match(await hub.host('nas'), { state: 'up' });
  t.equal(nas.closed, undefined);
  hub.reconfigure({ nas: { url: 'http://127.0.0.1:1', labels: {} } });
  t.match(await nas.end(), { reason: 'the entry in hub.agents has changed' }, 'the other direction');
  await hub.host('nas', ({ reason }) => reason === 'connection refused');
  hub.reconfigure({ pc: dialled() });
  const back = new Dialler(t, hub.port);
  await back.enter();
  await hub.host('pc', isUp);
});
