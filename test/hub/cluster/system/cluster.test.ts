/** Three nats-servers of packaging/mqtt as one broker: an agent and two hubs, each at another server. */
import t from 'tap';
import { NO_NATS, startBeside } from '../../../exporters/mqtt/broker.ts';
import { ask } from '../../../helpers/clients/http.ts';
import { until } from '../../../helpers/until.ts';
import { isUp, watch } from '../../setup.ts';
import { agentPart, makeAuthority, startCluster, startClusterHub } from '../setup.ts';

t.setTimeout(280_000);

const mute = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"action":"mute"}' };

t.test('[I.hub.cluster] each at another server, with the shipped rights', { skip: NO_NATS }, async (t) => {
  const authority = await makeAuthority();
  const { ca } = authority;
  const [first, second, third] = await startCluster(t, authority);
  if (first === undefined || second === undefined || third === undefined) throw new Error('three servers');
  const { media, service } = await startBeside(t, {
    mqtt: agentPart(first.broker.port, 'pc', ca),
    stats: { stream_interval_seconds: 1 },
  });
  const hub1 = await startClusterHub(t, second.broker.port, 'hub1', ca);
  // By now the state of the agent has only been kept.
  await hub1.host('pc', isUp);
  const hub2 = await startClusterHub(t, third.broker.port, 'hub2', ca);
  const streams = [await watch(hub1, 'pc', '?fields=cpu'), await watch(hub2, 'pc', '?detail=1')];
  for (const stream of streams) {
    await stream.next();
    await stream.next();
  }
  for (const hub of [hub1, hub2]) {
    t.equal((await ask(hub.port, '/api/hosts/pc/media/control', mute)).status, 200);
    t.equal((await ask(hub.port, '/api/hosts/pc/system')).status, 200);
  }
  t.equal(media.controls.length, 2, 'each command once');
  t.notMatch(service.stderr() + hub1.log.join('\n') + hub2.log.join('\n'), /refuses|refused/);
  // A machine's user is not a hub here either.
  const thief = await startClusterHub(t, second.broker.port, 'pc', ca);
  await until(() => /connected to/.test(thief.log.join('\n')));
  t.equal((await ask(hub1.port, '/api/hosts/pc/system')).status, 200);
  t.same(await thief.hosts(), [], 'it sees no machine');
  await service.stop();
  for (const hub of [hub1, hub2]) await until(async () => (await hub.host('pc')).state === 'down');
});
