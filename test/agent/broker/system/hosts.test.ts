/** Machines behind real brokers: they are there, and have what the service of each of them has. */
import t from 'tap';
import { payloadOf } from '../../../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../../../helpers/clients/http.ts';
import { startService } from '../../../helpers/service/service.ts';
import { until } from '../../../helpers/until.ts';
import { eventWith, fleetEvents, isDown, isUp, shapeOf, watch } from '../../../hub/setup.ts';
import { hubPart, startAgent, testBrokers, testMosquitto } from '../../reporter/rig.ts';
import { EVERYTHING, PlayedAgent, startBrokerHub } from '../setup.ts';

t.setTimeout(280_000);

testBrokers(t, '[I.hub.mqtt] samples, hardware and answers', async (t, broker) => {
  const host = { id: 'pc', name: 'desk', labels: { site: 'berlin' } };
  const { service } = await startAgent(t, broker, { host });
  const hub = await startBrokerHub(t, broker.url);
  t.match(await hub.host('pc', isUp), { name: 'desk', labels: { site: 'berlin' }, sample_age: null });
  t.same((await hub.hosts('?label=site:berlin')).length, 1);
  t.same((await hub.hosts('?label=site:paris')).length, 0);
  for (const query of ['', '?fields=memory', '?detail=1', '?fields=cpu,disks&detail=1', '?fields=none']) {
    const stream = await hub.open(`/api/hosts/pc/stream${query}`);
    const own = jsonOf(await ask(service.port, `/api/usage${query}`));
    t.same(shapeOf(payloadOf(await stream.next())), shapeOf(own), `stream${query}`);
    t.same(shapeOf(payloadOf(await stream.next())), shapeOf(own), 'and again');
    t.same(
      shapeOf(jsonOf(await ask(hub.port, `/api/hosts/pc/usage${query}`))),
      shapeOf(own),
      `usage${query}`,
    );
    stream.close();
  }
  const system = async (port: number, path: string) => shapeOf(jsonOf(await ask(port, path)));
  t.same(await system(hub.port, '/api/hosts/pc/system'), await system(service.port, '/api/system'));
  t.same(await system(hub.port, '/api/hosts/pc/pw'), await system(service.port, '/api/pw'));
  const fleet = await hub.open('/api/fleet/stream?fields=cpu');
  await until(() => {
    const event = fleetEvents(fleet).find(({ hosts }) => hosts['pc']?.sample !== undefined);
    return event && shapeOf(event.hosts['pc']?.sample);
  });
});

testBrokers(
  t,
  '[I.hub.mqtt.lease] it is asked for what viewers want, while they want it',
  async (t, broker) => {
    const agent = await PlayedAgent.start(t, broker.url, 'pc');
    const hub = await startBrokerHub(t, broker.url);
    await hub.host('pc', isUp);
    t.same(agent.wants, [], 'nothing is wanted');
    const cpu = { plain: ['cpu'] };
    const time = '"timestamp":1,"uptime":2';
    const opening = hub.open('/api/hosts/pc/stream?fields=cpu');
    const last = () => agent.wants.at(-1);
    const wanted = async (want: object) =>
      await until(() => last() === JSON.stringify({ hub: 'hub1', ...want }));
    await wanted({ sections: ['cpu'] });
    await agent.sample([time, '"cpu":{"a":1}'], cpu);
    const stream = await opening;
    t.same(payloadOf(await stream.next()), { timestamp: 1, uptime: 2, cpu: { a: 1 } });
    const wider = hub.open('/api/hosts/pc/stream?fields=memory');
    await wanted({ sections: ['cpu', 'memory'] });
    await agent.sample([time, '"cpu":{"a":2}'], cpu);
    // When two samples arrive together, a stream may skip the first.
    t.same(payloadOf(await stream.next()), { timestamp: 1, uptime: 2, cpu: { a: 2 } });
    await agent.sample([time, '"cpu":{"a":3}', '"memory":{"b":1}'], { plain: ['cpu', 'memory'] });
    t.same(payloadOf(await (await wider).next()), { timestamp: 1, uptime: 2, memory: { b: 1 } });
    t.same(
      payloadOf(await stream.next()),
      { timestamp: 1, uptime: 2, cpu: { a: 3 } },
      'one event per sample',
    );
    const detailed = hub.open('/api/hosts/pc/stream?fields=cpu&detail=1');
    await wanted({ sections: ['cpu', 'memory'], detail: ['cpu'] });
    const head = { plain: ['cpu', 'memory'], detail: ['cpu'] };
    await agent.sample([time, '"cpu":{"a":4}', '"memory":{}', '"x":1', '"cpu":{"b":5}'], head);
    t.same(payloadOf(await (await detailed).next()), { timestamp: 1, uptime: 2, x: 1, cpu: { b: 5 } });
    const before = agent.wants.length;
    await until(() => agent.wants.length > before);
    for (const each of [stream, await wider, await detailed]) each.close();
    await wanted({});
  },
);

testBrokers(
  t,
  '[I.hub.mqtt.commands] commands, by the rules of the hub and of the machine',
  async (t, broker) => {
    const { service, media } = await startAgent(t, broker);
    const hub = await startBrokerHub(t, broker.url, EVERYTHING);
    await hub.host('pc', isUp);
    const post = async (port: number, path: string, body: object) =>
      await ask(port, `/api/hosts/pc${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    t.match(await post(hub.port, '/media/control', { action: 'mute' }), { status: 200 });
    t.equal(media.controls.length, 1);
    t.match(await post(hub.port, '/pw/sleep', {}), { status: 200 });
    await until(() => /power: .*hub1/.test(service.stderr()));
    t.match(service.stderr(), /media: .*mute.*hub1/, 'the audit trail names the hub');
    t.match(await post(hub.port, '/media/control', { action: 'set_volume' }), { status: 400 });
    const strict = await startBrokerHub(t, broker.url, {}).catch(() => undefined);
    t.ok(strict);
    await strict?.host('pc', isUp);
    t.match(await post(strict?.port ?? 0, '/media/control', { action: 'mute' }), { status: 403 });
    t.equal(media.controls.length, 1, 'nobody may by default');
  },
);

testBrokers(t, '[I.hub.mqtt.presence] killed, started again, gone in good order', async (t, broker) => {
  const config = { host: { id: 'pc' }, mqtt: hubPart(broker), stats: { stream_interval_seconds: 1 } };
  const first = await startService({ config });
  const hub = await startBrokerHub(t, broker.url);
  const stream = await watch(hub, 'pc', '?fields=cpu');
  await stream.next();
  await first.stop('SIGKILL');
  t.match(await hub.host('pc', isDown), { reason: 'its agent is offline' });
  const refused = await ask(hub.port, '/api/hosts/pc/stream');
  t.equal(refused.status, 503);
  const second = await startService({ config });
  await hub.host('pc', isUp);
  const before = stream.count();
  await until(() => stream.count() > before);
  await second.stop();
  await hub.host('pc', isDown);
});

testBrokers(t, '[I.hub.mqtt.presence] what the broker has kept is asked', async (t, broker) => {
  const ghost = await PlayedAgent.start(t, broker.url, 'ghost');
  ghost.isAnswering = false;
  const real = await PlayedAgent.start(t, broker.url, 'real');
  const hub = await startBrokerHub(t, broker.url, {}, { headMs: 300 });
  await hub.host('real', isUp);
  await until(() => ghost.asked.length > 2);
  t.match(await hub.host('ghost'), { state: 'unknown' }, 'it was never up');
  t.notMatch(hub.log.join('\n'), 'host ghost is up');
  // It is there after all.
  ghost.isAnswering = true;
  await hub.host('ghost', isUp);
  // A state that is cleared away is a machine that is gone.
  await ghost.say('status', '', true);
  await until(async () => (await hub.hosts()).every(({ id }) => id === 'real'));
  real.cut();
  t.match(await hub.host('real', isDown), { reason: 'its agent is offline' });
});

testMosquitto(
  t,
  '[I.hub.mqtt.presence] a machine that falls silent, and one that sends nonsense',
  async (t, broker) => {
    const good = await PlayedAgent.start(t, broker.url, 'good');
    const bad = await PlayedAgent.start(t, broker.url, 'bad');
    const times = { silenceMs: 2000, headMs: 5000, maxDelayMs: 300 };
    const hub = await startBrokerHub(t, broker.url, {}, times);
    const lines = ['"timestamp":1,"uptime":2', '"cpu":{}'];
    const open = async (agent: PlayedAgent, id: string) => {
      await hub.host(id, isUp);
      const opening = hub.open(`/api/hosts/${id}/stream?fields=cpu`);
      await until(() => agent.wants.length > 0);
      await agent.sample(lines);
      return await opening;
    };
    const [seen, spoilt] = [await open(good, 'good'), await open(bad, 'bad')];
    for (const nonsense of [
      'x',
      '{"v":1}\n',
      '{"v":1,"run":"run1","clock":1,"n":1,"plain":["cpu"]}\n"a":1\n\r\n',
    ]) {
      await hub.host('bad', isUp);
      const wants = bad.wants.length;
      await until(() => bad.wants.length > wants);
      await bad.say('sample', nonsense);
      t.match(await hub.host('bad', isDown), { reason: 'its samples are malformed' });
    }
    await hub.host('bad', isUp);
    await until(() =>
      /^\{"hub":"hub1","sections":\["cpu"\]\}$/.test(bad.wants.at(-1) ?? '') ? true : undefined,
    );
    await bad.sample(['"timestamp":3,"uptime":2', '"cpu":{}']);
    await eventWith(spoilt, ({ timestamp }) => timestamp === 3);
    t.ok(spoilt.events.every((event) => payloadOf(event)['cpu'] !== undefined));
    good.isAnswering = false;
    t.match(await hub.host('good', isDown), { reason: 'no message within the timeout' });
    good.isAnswering = true;
    await hub.host('good', isUp);
    await good.sample(['"timestamp":4,"uptime":2', '"cpu":{}']);
    const again = setInterval(() => void good.sample(['"timestamp":4,"uptime":2', '"cpu":{}']), 100);
    t.teardown(() => clearInterval(again));
    await eventWith(seen, ({ timestamp }) => timestamp === 4);
  },
);

testMosquitto(t, '[I.hub.mqtt] an id in hub.agents is not taken from the broker', async (t, broker) => {
  await PlayedAgent.start(t, broker.url, 'pc');
  const hub = await startBrokerHub(t, broker.url);
  await hub.host('pc', isUp);
  const nowhere = { pc: { url: 'http://127.0.0.1:9' } };
  const mqtt = { hub: { mqtt: hub.mqtt } };
  hub.reconfigure(nowhere, mqtt);
  await hub.host('pc', ({ reason }) => reason === 'connection refused');
  hub.reconfigure({}, mqtt);
  await hub.host('pc', isUp);
});
