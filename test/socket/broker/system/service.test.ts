/** The service and a hub at real brokers: samples, answers, commands and events; and brokers and services that die. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { ask, jsonOf } from '../../../helpers/clients/http.ts';
import { FAKE_EVENT, FakeHistory } from '../../../helpers/fakes/history.ts';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { serveHere, startService } from '../../../helpers/service/service.ts';
import { until } from '../../../helpers/until.ts';
import {
  brokerPart,
  EVERYTHING,
  machinePart,
  startBrokerHub,
  startMachine,
  testBrokers,
  testMosquitto,
} from '../../../hub/broker/setup.ts';
import { isDown, isUp, shapeOf, startHub, watch } from '../../../hub/setup.ts';
import { HubClient } from '../../../hub/socket-setup.ts';

t.setTimeout(280_000);

const control = async (port: number, action: string) =>
  await ask(port, '/api/hosts/pc/media/control', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ action }),
  });

testBrokers(t, '[I.hub.mqtt.samples] the machine itself and the hub answer the same', async (t, broker) => {
  const host = { id: 'pc', name: 'desk', labels: { site: 'berlin' } };
  const { service } = await startMachine(t, broker, { host });
  const hub = await startBrokerHub(t, broker.url);
  t.match(await hub.host('pc', isUp), {
    name: 'desk',
    labels: { site: 'berlin' },
    scopes: ['read', 'media', 'hub'],
  });
  for (const route of ['usage?detail=1', 'system', 'pw'])
    t.same(
      shapeOf(jsonOf(await ask(hub.port, `/api/hosts/pc/${route}`))),
      shapeOf(jsonOf(await ask(service.port, `/api/${route}`))),
      route,
    );
});

testBrokers(t, '[I.hub.mqtt.parts] a cover of four parts', async (t, broker) => {
  const file = path.join(t.testdir(), 'cover.png');
  writeFileSync(file, Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(700_000)]));
  const hub = await startBrokerHub(t, broker.url);
  const service = await serveHere(t, livelyHost({ artUrl: `file://${file}` }), {
    host: { id: 'pc' },
    mqtt: machinePart(broker),
  });
  await hub.host('pc', isUp);
  const own = await ask(service.port, '/api/media/art');
  t.equal(own.body.length, 700_008);
  const through = await ask(hub.port, '/api/hosts/pc/media/art');
  t.ok(through.body.equals(own.body), `${through.status}: the same bytes`);
});

testBrokers(t, '[I.hub.mqtt.commands] commands with their steps, by the rules of both', async (t, broker) => {
  const history = new FakeHistory();
  const { service, media } = await startMachine(t, broker, {}, { history });
  const hub = await startBrokerHub(t, broker.url, EVERYTHING);
  await hub.host('pc', isUp);
  const client = await HubClient.open(t, hub);
  client.say('subscribe', { host: 'pc', data: { topics: ['media', 'events'] } }, 's');
  await client.take('media_update');
  client.say('media', { host: 'pc', data: { action: 'set_volume', value: 20 } }, 'v');
  await client.take(({ id, data }) => id === 'v' && data['final'] === true);
  t.same(
    client.told.filter(({ id }) => id === 'v').map(({ data }) => data['stage']),
    ['accepted', 'running', 'done'],
  );
  t.equal(media.controls.length, 1);
  t.match(service.stderr(), /media: set_volume.*hub=mqtt\.hub1/, 'the audit trail names the hub');
  await until(() => {
    history.notify(FAKE_EVENT);
    return client.told.find(({ type }) => type === 'event');
  });
  const { data } = await client.take('event');
  t.match(data, { machine: 'pc', subject: `${FAKE_EVENT.rule} ${FAKE_EVENT.series}`, begin: FAKE_EVENT.at });
  t.notOk('processes' in data, 'without the scope for them');
  // Not among hub.scopes, whose default is read and media.
  const lock = await ask(hub.port, '/api/hosts/pc/pw/lock', { method: 'POST' });
  t.equal(lock.status, 403);
  const strict = await startHub(t, {}, brokerPart(broker.url, {}, { name: 'hub2' }));
  await strict.host('pc', isUp);
  t.equal((await control(strict.port, 'mute')).status, 403, 'no client may by default');
  t.equal(media.controls.length, 1);
});

testBrokers(
  t,
  '[I.hub.mqtt.presence] a service that is killed, ends, and starts again',
  async (t, broker) => {
    const config = { host: { id: 'pc' }, mqtt: machinePart(broker), stats: { stream_interval_seconds: 1 } };
    const first = await startService({ config });
    const hub = await startBrokerHub(t, broker.url);
    const stream = await watch(hub, 'pc', '?fields=cpu');
    await stream.next();
    await first.stop('SIGKILL');
    t.match(await hub.host('pc', isDown), { reason: 'its service is offline' }, 'by its last will');
    t.equal((await ask(hub.port, '/api/hosts/pc/stream')).status, 503);
    const second = await startService({ config });
    await hub.host('pc', isUp);
    const before = stream.count();
    await until(() => stream.count() > before);
    await second.stop();
    t.match(await hub.host('pc', isDown), { reason: 'its service has stopped' }, 'by its farewell');
  },
);

testBrokers(t, '[I.hub.mqtt.broker] a broker that is killed and started again', async (t, broker) => {
  const { media } = await startMachine(t, broker);
  const hub = await startBrokerHub(t, broker.url, EVERYTHING);
  const stream = await watch(hub, 'pc', '?fields=cpu');
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const before = stream.count();
    await until(() => stream.count() > before);
    await broker.kill(signal);
    // A broker that shuts down cleanly may send the last will of the machine first.
    t.ok(isDown(await hub.host('pc', ({ reason }) => reason === 'the broker is unreachable')));
    t.equal((await control(hub.port, 'mute')).status, 503, 'not sent');
    const last = stream.count();
    await broker.start();
    await hub.host('pc', isUp);
    await until(() => stream.count() > last);
  }
  t.same(media.controls, [], 'and not done later');
  t.equal((await control(hub.port, 'mute')).status, 200);
  t.equal(media.controls.length, 1);
});

testBrokers(t, '[I.hub.mqtt.stopped] a broker that stands still does nothing late', async (t, broker) => {
  const { service, media } = await startMachine(t, broker);
  const hub = await startBrokerHub(t, broker.url, EVERYTHING, { commandMs: 3000, answerMs: 3000 });
  const stream = await watch(hub, 'pc', '?fields=cpu');
  t.equal((await control(hub.port, 'mute')).status, 200);
  await broker.freeze();
  const answers = await Promise.all(Array.from({ length: 4 }, async () => await control(hub.port, 'pause')));
  t.same(
    answers.map(({ status }) => status),
    [504, 504, 504, 504],
    'the outcome is unknown',
  );
  await hub.host('pc', ({ reason }) => reason === 'the broker is unreachable');
  const left = /lost connection to .* \(no answer from the broker within the timeout\)/;
  t.match(hub.log.join(''), left, 'the hub has left it');
  await until(() => left.test(service.stderr()), 'and so has the machine');
  broker.thaw();
  await hub.host('pc', isUp);
  const last = stream.count();
  await until(() => stream.count() > last);
  t.notOk(stream.isEnded);
  await until(async () => (await control(hub.port, 'mute')).status === 200);
  const paused = () => media.controls.filter(({ verb }) => verb === 'pause').length;
  t.equal(paused(), 0, 'too late');
  t.equal((await control(hub.port, 'pause')).status, 200);
  t.equal(paused(), 1, 'in time');
});

testMosquitto(t, '[I.hub.mqtt.reload] other scopes are other sessions', async (t, broker) => {
  const { service } = await startMachine(t, broker);
  const hub = await startBrokerHub(t, broker.url, EVERYTHING);
  t.same((await hub.host('pc', isUp)).scopes, ['read', 'media', 'hub']);
  const part = { host: { id: 'pc' }, mqtt: machinePart(broker), stats: { stream_interval_seconds: 1 } };
  service.reconfigure({ ...part, hub: { scopes: ['read'] } });
  t.same((await hub.host('pc', ({ scopes }) => scopes?.length === 2)).scopes, ['read', 'hub']);
  t.equal((await control(hub.port, 'mute')).status, 403);
  service.reconfigure({ ...part, mqtt: { ...part.mqtt, publish: 'homeassistant' } });
  t.match(await hub.host('pc', isDown), { reason: 'its service is offline' });
});
