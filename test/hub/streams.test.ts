/** Streams through the hub: of real services in this process, and of agents that the test plays. */
import t from 'tap';
import { SECTIONS } from '#src/host/host.js';
import { payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf, valuesOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere, startHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { EMPTY } from './played-machine.ts';
import { eventWith, isUp, PlayedMachine, startHub, watch, watchPlayed } from './setup.ts';

t.test('[I.hub.stream] the samples of several services, each as its own stream sends them', async (t) => {
  const services = await Promise.all(
    ['one', 'two', 'three'].map(() =>
      startHere(fixtureHost(), { stats: { stream_interval_seconds: 1 }, host: { name: 'fixture' } }),
    ),
  );
  for (const service of services) t.teardown(() => service.stop());
  const agents = Object.fromEntries(services.map(({ baseUrl }, i) => [`pc${i}`, { url: baseUrl }]));
  const hub = await startHub(t, agents);
  for (const id of Object.keys(agents)) {
    for (const query of ['', '?fields=cpu,network', '?detail=1', '?fields=memory&detail=1', '?fields=none']) {
      const stream = await watch(hub, id, query);
      const first = payloadOf(await stream.next());
      const second = payloadOf(await stream.next());
      const own = jsonOf(await ask(services[0]?.port ?? 0, `/api/usage${query}`));
      t.strictSame(
        Object.keys(first),
        Object.keys(own as object),
        `${id}${query}: the keys of its own payload`,
      );
      t.strictSame(Object.keys(second), Object.keys(first));
      stream.close();
    }
  }
  const odd = await hub.open('/api/hosts/pc0/stream?fields=cpu,foo');
  t.strictSame(valuesOf(odd.head, 'x-ignored-fields'), ['foo']);
  t.strictSame(
    (await hub.hosts()).map(({ id, name, state }) => ({ id, name, state })),
    Object.keys(agents).map((id) => ({ id, name: 'fixture', state: 'up' })),
  );
});

t.test('[I.hub.agents] an event is passed on as the bytes that came, once per viewer', async (t) => {
  const agent = await PlayedMachine.start(t);
  const hub = await startHub(t, { a: { url: agent.url } });
  await hub.host('a', isUp);
  t.equal(agent.streams, 0, 'nobody watches, so nothing is sampled');
  const first = await watchPlayed(hub, agent, 'a', { timestamp: 1, odd: '  ä\\u0041 ' });
  const sections = JSON.stringify(EMPTY).slice(1, -1);
  t.equal((await first.next()).text, `data: {"timestamp":1,"odd":"  ä\\\\u0041 ",${sections}}`);
  const second = await hub.open('/api/hosts/a/stream');
  await second.next();
  t.equal(agent.streams, 1, 'one stream for both');
});

t.test(
  '[I.hub.agents] the agent is asked for what all viewers want together, and each gets its part',
  async (t) => {
    const agent = await PlayedMachine.start(t);
    const hub = await startHub(t, { a: { url: agent.url } });
    await hub.host('a', isUp);
    const payload = (timestamp: number, sections: readonly string[]) => ({
      timestamp,
      uptime: 1,
      ...Object.fromEntries(sections.map((name) => [name, { of: name, timestamp }])),
    });
    /** Keeps sending what was asked for last, so that waiting viewers get a first sample. */
    let timestamp = 0;
    const pulse = setInterval(() => {
      agent.sample(payload(++timestamp, SECTIONS));
    }, 20);
    t.teardown(() => clearInterval(pulse));
    const cpu = await hub.open('/api/hosts/a/stream?fields=cpu');
    t.strictSame(agent.queries, ['cpu']);
    const network = await hub.open('/api/hosts/a/stream?fields=network,cpu');
    t.strictSame(agent.queries, ['cpu', 'cpu,network']);
    const gpu = await hub.open('/api/hosts/a/stream?fields=gpu');
    t.equal(agent.queries.at(-1), 'cpu,gpu,network');
    await until(() => agent.streams === 1);
    for (const [stream, keys] of [
      [cpu, ['timestamp', 'uptime', 'cpu']],
      [network, ['timestamp', 'uptime', 'cpu', 'network']],
      [gpu, ['timestamp', 'uptime', 'gpu']],
    ] as const) {
      const from = timestamp;
      const found = await eventWith(stream, (event) => Number(event['timestamp']) > from);
      t.strictSame([...Object.keys(found)].sort(), [...keys].sort());
    }
    gpu.close();
    await until(() => agent.queries.at(-1) === 'cpu,network');
    network.close();
    await until(() => agent.queries.at(-1) === 'cpu');
    cpu.close();
    await until(() => agent.streams === 0);
    const { sample_age: age } = await hub.host('a', (row) => row.sample_age === null);
    t.equal(age, null, 'nothing is kept of it');
  },
);

t.test('[I.hub.usage] usage and system of a machine: concurrent requests share one question', async (t) => {
  const service = await serveHere(t, fixtureHost(), { stats: { stream_interval_seconds: 1 } });
  const hub = await startHub(t, { a: { url: service.baseUrl } });
  await hub.host('a', isUp);
  for (const target of ['usage', 'usage?fields=cpu', 'usage?detail=1', 'system', 'system?detail=1']) {
    const [answer, again] = await Promise.all([
      ask(hub.port, `/api/hosts/a/${target}`),
      ask(hub.port, `/api/hosts/a/${target}`),
    ]);
    t.equal(answer.status, 200, target);
    t.strictSame(answer.body, again.body, 'the same answer');
    const own = jsonOf(await ask(service.port, `/api/${target}`)) as object;
    t.strictSame(Object.keys(jsonOf(answer) as object), Object.keys(own));
  }
  const stream = await watch(hub, 'a');
  const { text } = await stream.next();
  const usage = await ask(hub.port, '/api/hosts/a/usage?fields=memory');
  t.strictSame(Object.keys(jsonOf(usage) as object), ['timestamp', 'uptime', 'memory'], text);
});

t.test(
  '[I.hub.unknown] an unknown machine is 404, one that is down 503 with its state and the reason',
  async (t) => {
    const hub = await startHub(t, { gone: { url: 'http://127.0.0.1:1' } });
    await hub.host('gone', ({ reason }) => reason === 'connection refused');
    for (const part of ['stream', 'usage', 'system']) {
      const unknown = await ask(hub.port, `/api/hosts/nobody/${part}`);
      t.equal(unknown.status, 404);
      t.match(jsonOf(unknown), { code: 'not_found' });
      const down = await ask(hub.port, `/api/hosts/gone/${part}`);
      t.equal(down.status, 503);
      t.match(jsonOf(down), {
        code: 'host_unreachable',
        details: { state: 'unknown', reason: 'connection refused' },
      });
      t.ok(valuesOf(down, 'retry-after').length === 1);
    }
    for (const path of [
      '/api/hosts/',
      '/api/hosts/gone',
      '/api/hosts//stream',
      '/api/hosts/a/b/stream',
      '/api/usage',
      '/nothing',
    ])
      t.equal((await ask(hub.port, path)).status, 404, path);
    t.equal((await ask(hub.port, '/api/hosts/gone/stream', { method: 'POST' })).status, 405);
  },
);

t.test('[I.hub.agents] a stream gets the newest of the samples that one read brings', async (t) => {
  const agent = await PlayedMachine.start(t);
  const hub = await startHub(t, { a: { url: agent.url } });
  await hub.host('a', isUp);
  const opening = hub.open('/api/hosts/a/stream');
  await until(() => agent.streams === 1);
  for (const timestamp of [1, 2, 3]) agent.sample({ timestamp });
  const stream = await opening;
  const seen = [payloadOf(await stream.next())['timestamp']];
  while (seen.at(-1) !== 3) seen.push(payloadOf(await stream.next())['timestamp']);
  agent.sample({ timestamp: 4 });
  seen.push(payloadOf(await stream.next())['timestamp']);
  t.strictSame(
    seen,
    [1, 2, 3, 4].filter((timestamp) => seen.includes(timestamp)),
    'in order, each once',
  );
});
