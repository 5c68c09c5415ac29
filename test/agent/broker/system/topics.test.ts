/** Updates that machines behind a broker send unasked while a socket follows them: media, power, events of watch rules. */
import t from 'tap';
import { Witness } from '../../../exporters/mqtt/broker.ts';
import { FAKE_EVENT, FakeHistory } from '../../../helpers/fakes/history.ts';
import { snapshotOf } from '../../../helpers/fakes/media.ts';
import { until } from '../../../helpers/until.ts';
import { isUp } from '../../../hub/setup.ts';
import { HubClient, type HubTold } from '../../../hub/socket-setup.ts';
import { HUB, startAgent, testBrokers } from '../../reporter/rig.ts';
import { PlayedAgent, startBrokerHub } from '../setup.ts';

t.setTimeout(280_000);

const MEDIA = { status: 'active', title: 'A', artist: 'x', playback: 'playing', album: null };
const isMedia =
  (title: string, more: object = {}) =>
  ({ type, data }: HubTold) =>
    type === 'media_update' &&
    Object.entries({ title, ...more }).every(([key, value]) => data[key] === value);

testBrokers(t, '[I.hub.mqtt.pushed] media and power come from the machine, unasked', async (t, broker) => {
  const agent = await PlayedAgent.start(t, broker.url, 'pc');
  agent.results.set('media', MEDIA).set('power', { pending: null });
  const hub = await startBrokerHub(t, broker.url);
  await hub.host('pc', isUp);
  const last = () => agent.wants.at(-1);
  const wanted = async (want: object) =>
    await until(() => last() === JSON.stringify({ hub: 'hub1', ...want }));
  const asked = (what: string) => agent.asked.filter((each) => each.what === what).length;
  const plain = await HubClient.open(t, hub);
  plain.say('subscribe', { host: 'pc', data: { topics: ['media', 'power'] } }, 's');
  await plain.take(isMedia('A'));
  await plain.take('power_update');
  await wanted({ sections: [], topics: ['media', 'power'] });
  const first = asked('media');
  await until(() => asked('media') > first + 1);
  t.pass('it is asked for each interval as long as it sends nothing by itself');
  await agent.say('media', { ...MEDIA, title: 'B' });
  await agent.say('power', { pending: 1 });
  const told = await plain.take(isMedia('B'));
  t.same([told.id, told.data], [undefined, { status: 'active', title: 'B', artist: 'x' }], 'without detail');
  await plain.take(({ type, data }) => type === 'power_update' && data['pending'] === 1);
  const detailed = await HubClient.open(t, hub, '/api/hosts/pc/ws');
  const before = [asked('media'), asked('power')];
  detailed.say('subscribe', { data: { topics: ['media'], detail: true } }, 'd');
  t.same((await detailed.take('media_update')).data, { ...MEDIA, title: 'B' }, 'what is known');
  await agent.say('media', { ...MEDIA, title: 'B', playback: 'paused' });
  await plain.take(isMedia('B'));
  await detailed.take(isMedia('B', { playback: 'paused' }));
  t.pass('a pause is a change also without detail, as of a service');
  for (const bad of ['{', '[]', '5', `{"title":"${'x'.repeat(70_000)}"}`]) await agent.say('media', bad);
  const wants = agent.wants.length;
  await until(() => agent.wants.length > wants + 1);
  t.same([asked('media'), asked('power')], before, 'for two renewals, 6 s, nothing was asked');
  t.equal(plain.told.filter(isMedia('B')).length, 2, 'and nothing else was sent');
  // A new run has no leases, and may send nothing unasked.
  await agent.say('status', { state: 'online', run: 'run2' }, true);
  await until(() => asked('media') > (before[0] ?? 0));
  await agent.say('status', { state: 'online', run: 'run1' }, true);
  plain.say('unsubscribe', { host: 'pc' }, 'u');
  await wanted({ sections: [], topics: ['media'] });
  detailed.say('unsubscribe', {}, 'u');
  await wanted({});
  const end = agent.wants.length;
  detailed.say('subscribe', { data: { topics: ['stats.cpu', 'power'] } }, 'e');
  await wanted({ sections: ['cpu'], topics: ['power'] });
  t.ok(agent.wants.length > end);
});

testBrokers(
  t,
  '[I.hub.mqtt.events] events of watch rules, while a socket follows them',
  async (t, broker) => {
    const history = new FakeHistory();
    const { media } = await startAgent(t, broker, {}, { history });
    const witness = await Witness.open(t, broker.url);
    const hub = await startBrokerHub(t, broker.url);
    await hub.host('pc', isUp);
    const [many, one, other] = await Promise.all([
      HubClient.open(t, hub),
      HubClient.open(t, hub, '/api/hosts/pc/ws'),
      HubClient.open(t, hub),
    ]);
    const published = () => witness.on(`${HUB}/event`).length;
    history.notify(FAKE_EVENT);
    many.say('subscribe', { host: 'pc', data: { topics: ['events', 'media'] } }, 's');
    one.say('subscribe', { data: { topics: ['events'] } }, 's');
    other.say('subscribe', { host: 'pc', data: { topics: ['media'] } }, 's');
    t.match(await many.take('subscribed'), { data: { topics: ['media', 'events'], unknown: [] } });
    t.match(await one.take('subscribed'), { data: { topics: ['events'], unknown: [] } });
    // The lease has arrived: a change of media comes over it.
    const [player] = media.snapshot.players;
    if (player === undefined) throw new Error('there is a player');
    media.change(snapshotOf({ ...player, title: 'B' }));
    await witness.waitFor(`${HUB}/media`, /"title":"B"/);
    t.equal(published(), 0, 'nobody wanted the first one');
    history.notify({ ...FAKE_EVENT, state: 'end' });
    for (const client of [many, one]) {
      const told = await client.take('event');
      t.same(told.data, { ...FAKE_EVENT, state: 'end' });
      t.equal(told.host, client === many ? 'pc' : undefined);
    }
    t.match(await many.ask('get', { host: 'pc', data: { topics: ['events'] } }), {
      type: 'error',
      data: { code: 'INVALID_DATA', details: { topic: 'events' } },
    });
    history.isOn = false;
    other.say('subscribe', { host: 'pc', data: { topics: ['events'], mode: 'add' } }, 'off');
    t.match(await other.take('error'), {
      id: 'off',
      data: { code: 'FEATURE_DISABLED', details: { topic: 'events' } },
    });
    t.same(
      other.told.filter(({ type }) => type === 'event'),
      [],
      'it came before that',
    );
    for (const client of [many, other]) client.say('unsubscribe', { host: 'pc' }, 'u');
    one.say('unsubscribe', {}, 'u');
    await witness.waitFor(`${HUB}/want`, '{"hub":"hub1"}');
    // The agent has read that too: it answers what was sent after it.
    await many.ask('process_details', { host: 'pc', data: { pid: 1 } });
    history.notify(FAKE_EVENT);
    await many.ask('process_details', { host: 'pc', data: { pid: 1 } });
    t.equal(published(), 1, 'nobody follows them any more');
    t.ok(witness.heard.every(({ topic, isRetained }) => topic !== `${HUB}/event` || !isRetained));
  },
);
