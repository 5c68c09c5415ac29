/** Connections of machines that end, fall silent, or come twice: what viewers see, and how long it takes. */
import process from 'node:process';
import t from 'tap';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { startRelay } from '../../helpers/clients/relay.ts';
import { until } from '../../helpers/until.ts';
import { done, PlayedMachine } from '../played-machine.ts';
import { isDown, isUp, startHub, watch } from '../setup.ts';
import { Dialler, dialled, KEY, OTHER_KEY, startAgent, urlOf } from './setup.ts';

t.setTimeout(280_000);

/** Maximum time from the end of a fault until streams continue. */
const BACK_MS = 5000;
/** Margin of a test on a busy machine. */
const MARGIN_MS = 2000;

t.test('[I.hub.dial.cut] streams continue within 5 s of a cut', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const proxy = await startRelay(t, hub.port);
  await startAgent(t, urlOf(proxy));
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
  const proxy = await startRelay(t, hub.port);
  const agent = await startAgent(t, urlOf(proxy));
  await hub.host('pc', isUp);
  proxy.freeze();
  const frozenAtMs = performance.now();
  await until(() => /lost connection to /.exec(agent.stderr()) ?? undefined);
  const agentMs = performance.now() - frozenAtMs;
  t.ok(agentMs < 60_000 + MARGIN_MS, `the machine: ${agentMs} ms`);
  // New connections pass.
  await until(() => hub.log.some((line) => /host pc is down/.test(line)) || undefined);
  await hub.host('pc', isUp);
});

t.test('[I.hub.dial.stopped] a stopped machine is down, and up again when it continues', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const agent = await startAgent(t, urlOf(hub));
  await hub.host('pc', isUp);
  process.kill(agent.pid, 'SIGSTOP');
  const stoppedAtMs = performance.now();
  await hub.host('pc', isDown);
  t.ok(performance.now() - stoppedAtMs < 20_000 + MARGIN_MS);
  t.match(jsonOf(await ask(hub.port, '/api/hosts/pc/pw')), { code: 'host_unreachable' });
  process.kill(agent.pid, 'SIGCONT');
  const wokenAtMs = performance.now();
  await hub.host('pc', isUp);
  t.ok(performance.now() - wokenAtMs < BACK_MS + MARGIN_MS, `${performance.now() - wokenAtMs} ms`);
});

t.test('[I.hub.dial.twice] one id has one machine', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const first = new Dialler(t, hub.port);
  await hub.host('pc', isUp);
  const other = new PlayedMachine();
  other.run = 'run2';
  t.equal(await new Dialler(t, hub.port, {}, other).refused(), 409);
  t.equal(first.closed, undefined, 'the first one stays');
  t.match(hub.log.join(''), /two machines dial in as pc/);
  const again = new Dialler(t, hub.port, {}, first.machine);
  t.match(await first.end(), { code: 1008 }, 'a newer connection of the same machine takes its place');
  await again.settled();
  await hub.host('pc', isUp);
  again.machine.isAnswering = false;
  const waited = performance.now();
  await until(async () => {
    const next = new Dialler(t, hub.port, {}, other);
    await next.settled();
    return next.isOpen;
  });
  t.ok(performance.now() - waited < 20_000 + MARGIN_MS, 'one that says nothing makes way');
  await hub.host('pc', isUp);
});

t.test('[I.hub.dial.lost] a command sent to a machine that is lost has no known outcome', async (t) => {
  const commands = { all: { commands: ['*'], labels: {} } };
  const hub = await startHub(t, { pc: dialled() }, { hub: { commands } });
  const { machine } = new Dialler(t, hub.port, {}, new PlayedMachine(() => 'cut'));
  await hub.host('pc', isUp);
  const answer = await ask(hub.port, '/api/hosts/pc/pw/sleep', { method: 'POST' });
  t.match(jsonOf(answer), { code: 'outcome_unknown' });
  t.equal(machine.at('power.sleep').length, 1, 'sent once');
});

t.test('[I.hub.dial.long] a long answer, and one that never ends', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const result = { text: 'ä'.repeat(100_000) };
  const agent = new Dialler(t, hub.port, {}, new PlayedMachine(() => done(result)));
  await hub.host('pc', isUp);
  t.same(jsonOf(await ask(hub.port, '/api/hosts/pc/pw')), result);
  for (let sent = 0; sent < 100 && agent.isOpen; sent++)
    agent.socket.send('x'.repeat(48 * 1024), { fin: false });
  t.ok([1006, 1008, 1009].includes((await agent.end()).code));
});

t.test('[I.hub.dial.reload-hub] a reload changes one entry, and leaves the others', async (t) => {
  const agents = { pc: dialled(), nas: dialled() };
  const hub = await startHub(t, agents);
  const [pc, nas] = [new Dialler(t, hub.port), new Dialler(t, hub.port, { id: 'nas' })];
  for (const id of ['pc', 'nas']) await hub.host(id, isUp);
  hub.reconfigure({ ...agents, pc: { ...agents.pc, labels: { site: 'berlin' } } });
  t.match(await hub.host('pc', isUp), { labels: { site: 'berlin' } });
  hub.reconfigure({ ...agents, pc: dialled(OTHER_KEY) });
  t.match(await pc.end(), { reason: 'its entry in hub.agents has changed' });
  t.equal(await new Dialler(t, hub.port, { key: KEY }).refused(), 401, 'the old key');
  hub.reconfigure({ nas: agents.nas });
  await until(async () => (await hub.hosts()).length === 1);
  t.equal(await new Dialler(t, hub.port).refused(), 401);
  t.match(await hub.host('nas'), { state: 'up' });
  t.equal(nas.closed, undefined);
  hub.reconfigure({ nas: { url: 'http://127.0.0.1:1', labels: {} } });
  t.equal((await nas.end()).code, 1008, 'the other direction');
  await hub.host('nas', ({ reason }) => reason === 'connection refused');
  hub.reconfigure({ pc: dialled() });
  new Dialler(t, hub.port);
  await hub.host('pc', isUp);
});
