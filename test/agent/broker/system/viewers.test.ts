/** Viewers of machines behind a broker, which come, change and go without a reload of the hub. */
import t from 'tap';
import { until } from '../../../helpers/until.ts';
import { fleetEvents, isUp } from '../../../hub/setup.ts';
import { HubClient } from '../../../hub/socket-setup.ts';
import { testMosquitto } from '../../reporter/rig.ts';
import { PlayedAgent, startBrokerHub } from '../setup.ts';

t.setTimeout(280_000);

const LINES = ['"timestamp":1,"uptime":2', '"cpu":{"a":1}'];

testMosquitto(
  t,
  '[I.hub.mqtt.sockets] WebSockets have its samples, and lose it when it is gone',
  async (t, broker) => {
    const agent = await PlayedAgent.start(t, broker.url, 'pc');
    const hub = await startBrokerHub(t, broker.url);
    await hub.host('pc', isUp);
    const many = await HubClient.open(t, hub);
    const one = await HubClient.open(t, hub, '/api/hosts/pc/ws');
    const data = { topics: ['stats.cpu'] };
    t.match(await many.ask('subscribe', { host: 'pc', data }), { type: 'subscribed' });
    t.match(await one.ask('subscribe', { data }), { type: 'subscribed' });
    await until(() => agent.wants.length > 0);
    await agent.sample(LINES);
    t.match(await many.take('system_stats'), {
      host: 'pc',
      data: { timestamp: 1, uptime: 2, cpu: { a: 1 } },
    });
    t.match(await one.take('system_stats'), { data: { timestamp: 1, uptime: 2, cpu: { a: 1 } } });
    await agent.say('status', '', true);
    t.match(await many.take('error'), { host: 'pc', data: { code: 'NOT_FOUND' } });
    t.equal((await one.socket.closed).code, 1001);
  },
);

testMosquitto(t, '[I.hub.mqtt.labels] the fleet follows labels that change', async (t, broker) => {
  const agent = await PlayedAgent.start(t, broker.url, 'pc');
  const hub = await startBrokerHub(t, broker.url);
  await hub.host('pc', isUp);
  const berlin = await hub.open('/api/fleet/stream?fields=cpu&label=site:berlin');
  const status = (labels: object) => agent.say('status', { state: 'online', run: 'run1', labels }, true);
  await status({ site: 'berlin' });
  await until(() => fleetEvents(berlin).find(({ hosts }) => hosts['pc'] !== undefined));
  await until(() => agent.wants.length > 0);
  await agent.sample(LINES);
  await until(() => fleetEvents(berlin).find(({ hosts }) => hosts['pc']?.sample !== undefined));
  await status({ site: 'paris' });
  await until(() => fleetEvents(berlin).find(({ removed }) => removed.includes('pc')));
  await until(() => agent.wants.at(-1) === '{"hub":"hub1"}');
  t.pass('nobody watches it now');
});
