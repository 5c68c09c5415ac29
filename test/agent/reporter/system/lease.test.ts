/** Samples, media and power for hubs over real brokers, with and without a lease. The clock is the test's. */
import t, { type Test } from 'tap';
import { AVAILABILITY, type Broker, startBeside, Witness } from '../../../exporters/mqtt/broker.ts';
import { FakeClock } from '../../../helpers/fakes/clock.ts';
import { snapshotOf } from '../../../helpers/fakes/media.ts';
import { until } from '../../../helpers/until.ts';
import {
  advanceUntil,
  HUB,
  hubPart,
  startAgent,
  TestHub,
  testBrokers,
  testMosquitto,
  untilOnline,
} from '../rig.ts';

/** One hub, an agent on a clock that the test moves, and the number of its readings. */
async function rig(t: Test, broker: Broker) {
  const hub = await TestHub.open(t, broker.url);
  const clock = new FakeClock();
  const { service, media } = await startAgent(t, broker, {}, { clock });
  await untilOnline(hub, clock);
  /** Returns once earlier messages have arrived: one connection keeps its order. */
  const sync = async (from = hub) => void (await from.ask('clock'));
  /** A second passes at the agent, and what it sends arrives. */
  const tick = async () => {
    await clock.advance(1000);
    await sync();
  };
  return { hub, clock, service, media, sync, tick };
}

testBrokers(t, '[3.mqtt-hub-lease] a lease begins with a sample and ends without one', async (t, broker) => {
  const { hub, clock, sync, tick } = await rig(t, broker);
  await tick();
  t.same(hub.samples, [], 'nobody has asked');
  const rest = clock.timers;
  await hub.want({ sections: ['cpu', 'memory'] });
  await sync();
  await advanceUntil(clock, hub, () => hub.samples.length > 0, 'a first sample before the next tick');
  for (let second = 0; second < 5; second++) {
    const before = hub.samples.length;
    await tick();
    t.equal(hub.samples.length, before + 1, 'one per tick');
  }
  const last = hub.samples.at(-1);
  t.same(JSON.parse(last?.join(['memory'], false) ?? '{}').memory.used_percent, 75);
  t.same(last?.head.plain, ['cpu', 'memory']);
  t.equal(last?.head.detail, undefined);
  t.same(
    hub.samples.map(({ head }) => head.n),
    hub.samples.map((_, at) => at),
    'none is missing',
  );
  await hub.want({ sections: ['cpu'], detail: ['memory'] });
  await sync();
  for (let second = 0; second < 9; second++) await tick();
  t.match(
    hub.samples.at(-1)?.head,
    { plain: ['cpu'], detail: ['memory'] },
    'it was renewed, with another view',
  );
  t.match(JSON.parse(hub.samples.at(-1)?.join(['memory'], true) ?? '{}'), {
    sensors: Array,
    memory: Object,
  });
  await tick();
  await tick();
  const after = hub.samples.length;
  for (let second = 0; second < 5; second++) await tick();
  t.equal(hub.samples.length, after, 'it has ended');
  // Records of answered requests expire later.
  await clock.advance(3_600_000);
  t.equal(clock.timers, rest, 'and no clock runs for it');
});

testBrokers(
  t,
  '[3.mqtt-hub-two] each of two hubs gets what it wants, when it wants it',
  async (t, broker) => {
    const { hub, clock, sync, tick } = await rig(t, broker);
    const other = await TestHub.open(t, broker.url, 'hub2');
    const renew = async () => {
      await hub.want({ sections: ['cpu'] });
      await other.want({ sections: ['memory'], detail: ['gpu'], interval_seconds: 3 });
      await sync();
      await sync(other);
    };
    await renew();
    await advanceUntil(
      clock,
      hub,
      () => hub.samples.some(({ head }) => head.plain.includes('memory')),
      'a first one',
    );
    await clock.advance(1000);
    await sync();
    const before = hub.samples.length;
    for (let second = 0; second < 12; second++) {
      await renew();
      await tick();
    }
    const heads = hub.samples.slice(before).map(({ head }) => head);
    t.equal(heads.length, 12, 'one message per tick for both');
    t.ok(heads.every(({ plain }) => plain.includes('cpu')));
    t.equal(
      heads.filter(({ plain }) => plain.includes('memory')).length,
      4,
      'every third has what the slow one wants',
    );
    t.equal(heads.filter(({ detail }) => detail?.includes('gpu')).length, 4);
    await other.want({});
    await sync(other);
    for (let second = 0; second < 3; second++) await tick();
    t.ok(
      hub.samples.slice(-3).every(({ head }) => head.plain.join() === 'cpu' && head.detail === undefined),
      'the other has ended its lease',
    );
    t.ok(
      other.answers.every(({ id }) => id.startsWith('hub2')),
      'each is answered on a topic of its own',
    );
  },
);

testBrokers(
  t,
  '[3.mqtt-hub-changes] media and power go out when they change, while a hub wants them',
  async (t, broker) => {
    const { hub, clock, media, sync, tick } = await rig(t, broker);
    const topic = `${HUB}/media`;
    await hub.want({ topics: ['media', 'power'] });
    await advanceUntil(
      clock,
      hub,
      () => hub.on(topic).length === 1 && hub.on(`${HUB}/power`).length === 1,
      'both once',
    );
    t.match(JSON.parse(hub.on(topic)[0] ?? '{}'), { title: 'A', player: 'mpv', players: ['mpv'] });
    t.match(JSON.parse(hub.on(`${HUB}/power`)[0] ?? '{}'), {
      actions: { sleep: { enabled: true } },
      pending: null,
    });
    const [player] = media.snapshot.players;
    if (player === undefined) throw new Error('there is a player');
    media.change(snapshotOf({ ...player, title: 'B' }));
    await advanceUntil(clock, hub, () => hub.on(topic).length === 2, 'a change');
    t.match(JSON.parse(hub.on(topic)[1] ?? '{}'), { title: 'B' });
    const late = await TestHub.open(t, broker.url, 'hub2');
    t.same(late.on(topic), [], 'the broker keeps none');
    await late.want({ topics: ['media'] });
    await advanceUntil(clock, late, () => late.on(topic).length === 1, 'a new hub is sent the present state');
    t.same(hub.samples, [], 'and no samples, which nobody wants');
    for (let second = 0; second < 12; second++) await tick();
    const count = hub.on(topic).length;
    media.change(snapshotOf({ ...player, title: 'C' }));
    await tick();
    await sync();
    t.equal(hub.on(topic).length, count, 'nobody wants it any more');
  },
);

testBrokers(t, '[3.mqtt-hub-status] the state is retained, and true', async (t, broker) => {
  const { service } = await startAgent(t, broker, {}, { isClosed: false });
  const hub = await TestHub.open(t, broker.url);
  await until(() => hub.state === 'online', 'online');
  const status = JSON.parse(hub.on(`${HUB}/status`).at(-1) ?? '{}');
  t.match(status, { state: 'online', protocol: 1, version: /\d/, run: /^[0-9a-f]{16}$/ });
  await service.stop();
  await until(() => hub.state === 'offline', 'offline');
  const late = await TestHub.open(t, broker.url, 'hub2');
  await until(() => late.state === 'offline', 'retained');
  t.ok(
    late.heard.every(({ topic }) => topic === `${HUB}/status`),
    'and nothing else is',
  );
});

testMosquitto(
  t,
  '[3.mqtt-hub-bad-want] a bad want and a 17th hub are ignored, with one line',
  async (t, broker) => {
    const { hub, service, sync } = await rig(t, broker);
    await hub.say(`${HUB}/want`, '{');
    await hub.say(`${HUB}/want`, { hub: 'a/b' });
    for (let at = 0; at < 20; at++) await hub.say(`${HUB}/want`, { hub: `h${at}`, topics: ['power'] });
    await sync();
    const lines = service
      .stderr()
      .split('\n')
      .filter((line) => line.includes('a request for samples'));
    t.equal(lines.length, 1);
    t.match(lines[0], /ignored a request for samples: it is not a JSON object/);
  },
);

testMosquitto(
  t,
  '[3.mqtt-hub-bad-want] a want that the broker has kept begins no lease',
  async (t, broker) => {
    const hub = await TestHub.open(t, broker.url);
    await hub.say(`${HUB}/want`, { hub: 'gone', sections: ['cpu'] }, { qos: 1, retain: true });
    const clock = new FakeClock();
    await startAgent(t, broker, {}, { clock });
    await untilOnline(hub, clock);
    for (let second = 0; second < 3; second++) {
      await hub.ask('clock');
      await clock.advance(1000);
    }
    await hub.ask('clock');
    t.same(hub.samples, []);
  },
);

testMosquitto(
  t,
  '[3.mqtt-publish-key] the published topics are a choice, and another choice removes the rest',
  async (t, broker) => {
    const witness = await Witness.open(t, broker.url);
    const part = { host: { id: 'pc' } };
    const topics = () => [...new Set(witness.heard.map(({ topic }) => topic))];
    const { service } = await startBeside(t, { ...part, mqtt: hubPart(broker, { publish: 'both' }) });
    await witness.waitFor(AVAILABILITY, 'online');
    await witness.waitFor(`${HUB}/status`, /"online"/);
    await witness.waitFor('hostwire/pc/state', /./);
    t.equal(service.stderr().split('connected to').length - 1, 2, 'two connections, each with its last will');
    service.reconfigure({ ...part, mqtt: hubPart(broker, { publish: 'hub' }) });
    await witness.waitFor(AVAILABILITY, 'offline');
    await witness.waitFor('homeassistant/device/pc/config', '');
    await until(() => witness.on(`${HUB}/status`).length === 3, 'and a new run for hubs');
    const before = topics().length;
    service.reconfigure({ ...part, mqtt: hubPart(broker, { publish: 'homeassistant' }) });
    await witness.waitFor(`${HUB}/status`, /"offline"/, 3);
    await until(() => witness.on(AVAILABILITY).at(-1) === 'online', 'Home Assistant again');
    t.equal(topics().length, before);
  },
);
