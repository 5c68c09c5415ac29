/** The hub's end of a broker that a test plays: when it begins sessions, with how many machines, and what it ignores. */
import t from 'tap';
import { Places } from '#src/fairness/places.js';
import { Broker } from '#src/hub/broker.js';
import { Listeners } from '#src/listeners.js';
import { createLog } from '#src/log/log.js';
import { Machines } from '#src/machine/machines.js';
import { type RemoteDeps, TIMES } from '#src/machine/remote-deps.js';
import { ALL_SCOPES } from '#src/scopes.js';
import { FakeClock, settle } from '../../helpers/fakes/clock.ts';
import { PlayedBroker } from './played-broker.ts';

const CONNECTED = { protocol: 2, run: 'r', clock: 1, machine: { id: 'x', name: 'desk', labels: {} } };
const greetingOf = (session: string, number = 0) =>
  `${session} ${number}\n${JSON.stringify({ type: 'connected', data: CONNECTED })}`;

interface Rig {
  readonly clock: FakeClock;
  readonly machines: Machines;
}

/** A hub at a broker; `beside`: the same hub at another one. */
async function play({ isConnected = true, beside }: { isConnected?: boolean; beside?: Rig } = {}) {
  const clock = beside?.clock ?? new FakeClock();
  const broker = new PlayedBroker();
  const log: string[] = [];
  const deps: RemoteDeps = {
    clock,
    log: createLog((line) => log.push(line), 'debug'),
    times: TIMES,
    counters: { samples: 0, sampleBytes: 0, connections: 0, failures: 0 },
    limits: { questions: new Places(100), commands: new Places(100) },
    commander: {
      command: () => Promise.reject(new Error('none is given')),
      check: () => undefined,
      scopesAt: () => ALL_SCOPES,
    },
    conditions: new Listeners<readonly [id: string]>(),
    random: () => 0.5,
  };
  const nothing = () => {
    throw new Error('none is configured');
  };
  const machines = beside?.machines ?? new Machines(deps, nothing);
  let link: ReturnType<PlayedBroker['open']> | undefined;
  const entry = { url: 'mqtt://broker', topic: 'hostwire', name: 'hub1' };
  const hub = new Broker(deps, machines, 'hub.brokers.b', entry, (options) => {
    link = broker.open(options);
    return link;
  });
  const connect = async () => {
    link?.begin();
    await settle();
  };
  if (isConnected) await connect();
  /** The sessions that the hub has opened with a machine, or with all. */
  const opened = (id?: string) =>
    broker.published
      .filter(
        ({ topic, text }) => / 0\n$/.test(text) && (id === undefined || topic === `hostwire/${id}/in/hub1`),
      )
      .map(({ text }) => text.slice(0, 16));
  return {
    clock,
    broker,
    log,
    machines,
    hub,
    connect,
    disconnect: () => link?.end(),
    opened,
    status: (id: string, state: string, isKept = true) =>
      broker.publish(`hostwire/${id}/status`, state && JSON.stringify({ state, run: 'r' }), isKept),
    say: (id: string, payload: string) => broker.publish(`hostwire/${id}/out/hub1`, payload),
    greet: async (id: string) => {
      broker.publish(`hostwire/${id}/out/hub1`, greetingOf(opened(id).at(-1) ?? ''));
      await settle();
    },
    stateOf: (id: string) => machines.at(id)?.condition,
  };
}

t.test('[I.hub.mqtt.presence] a machine is up once it has greeted, in this session', async (t) => {
  const hub = await play();
  hub.status('pc', 'online');
  await hub.clock.advance(100);
  t.equal(hub.opened('pc').length, 1);
  t.match(hub.stateOf('pc'), { state: 'unknown' });
  hub.say('pc', greetingOf('x'.repeat(16)));
  hub.say('nas', greetingOf(hub.opened('pc')[0] ?? ''));
  t.match(hub.stateOf('pc'), { state: 'unknown' }, 'of another session, and of another machine');
  await hub.greet('pc');
  t.match(hub.stateOf('pc'), { state: 'up' });
  t.equal(hub.machines.at('pc')?.name, 'desk');
  t.same(
    hub.machines.all.map(({ id }) => id),
    ['pc'],
    'a machine without a status is none',
  );
  // The status that the broker keeps is older than the session.
  hub.broker.publish('hostwire/pc/status', '', true);
  t.equal(hub.machines.all.length, 0, 'a cleared status is a machine that is gone');
});

t.test('[I.hub.mqtt.presence] statuses that are published now, and kept ones', async (t) => {
  const hub = await play({ isConnected: false });
  hub.status('pc', 'online');
  hub.status('off', 'offline');
  await hub.connect();
  t.equal(hub.opened('off').length, 0);
  t.match(hub.stateOf('off'), { reason: 'its service is offline' });
  await hub.greet('pc');
  // Read again: what is kept by then may have been published before the session.
  hub.status('pc', 'online');
  await hub.clock.advance(100);
  await hub.clock.advance(1000);
  t.equal(hub.opened('pc').length, 2, 'an online status of now begins another session');
  await hub.greet('pc');
  hub.broker.publish('hostwire/nas/status', '{"state":"online"}', true);
  await hub.clock.advance(60_000);
  const states = hub.broker.subscriptions.filter((filter) => filter === 'hostwire/+/status');
  t.equal(states.length, 3, 'at the beginning, after 10 s and after 60 s');
  await hub.greet('pc');
  t.equal(hub.opened('pc').length, 2, 'and none by a kept one');
  hub.status('pc', 'offline');
  t.match(hub.stateOf('pc'), { state: 'down', reason: 'its service is offline' });
  for (const bad of ['{', '[]', '5', '{"state":"up"}', `{"state":"online","x":"${'x'.repeat(9000)}"}`])
    hub.broker.publish('hostwire/other/status', bad);
  t.equal(hub.machines.at('other'), undefined);
});

t.test(
  '[I.hub.mqtt.several] of a machine at two brokers the one at which it is online is shown',
  async (t) => {
    const one = await play();
    const other = await play({ beside: one });
    one.status('pc', 'online');
    await one.clock.advance(100);
    await one.greet('pc');
    const first = one.machines.at('pc');
    for (const state of ['offline', 'online']) other.status('pc', state);
    await one.clock.advance(1000);
    t.equal(one.machines.at('pc'), first, 'the one that is up stays');
    t.equal(other.opened('pc').length, 0);
    one.status('pc', 'offline');
    t.match(one.stateOf('pc'), { state: 'down' });
    other.status('pc', 'online', false);
    await one.clock.advance(100);
    await other.greet('pc');
    t.match(one.stateOf('pc'), { state: 'up' }, 'it has moved');
    t.equal(first?.isClosed, true);
    for (const state of ['offline', 'online']) one.status('pc', state, false);
    await one.clock.advance(1000);
    t.match(one.stateOf('pc'), { state: 'up' });
    t.equal(one.opened('pc').length, 1);
    t.equal(one.machines.all.length, 1);
  },
);

t.test('[I.hub.mqtt.presence] a machine that does not answer is tried again', async (t) => {
  const hub = await play();
  hub.status('pc', 'online', false);
  await hub.clock.advance(5200);
  t.match(hub.stateOf('pc'), { reason: 'no answer in time' });
  await hub.clock.advance(58_000);
  t.equal(hub.opened('pc').length, 1);
  await hub.clock.advance(3000);
  t.equal(hub.opened('pc').length, 2, 'after a minute');
  await hub.clock.advance(10_000);
  hub.machines.at('pc')?.refusal();
  await hub.clock.advance(250);
  t.equal(hub.opened('pc').length, 3, 'or where a viewer wants it');
  for (let count = 0; count < 20; count++) hub.machines.at('pc')?.refusal();
  await hub.clock.advance(1000);
  t.equal(hub.opened('pc').length, 3, 'but once at a time');
  await hub.greet('pc');
  hub.say('pc', `${hub.opened('pc').at(-1)} 5\n{}`);
  t.match(hub.stateOf('pc'), { state: 'down', reason: 'messages were lost on the way' });
  await hub.clock.advance(250);
  t.equal(hub.opened('pc').length, 4, 'after a gap immediately');
  await hub.greet('pc');
  t.match(hub.stateOf('pc'), { state: 'up' });
  hub.status('off', 'offline');
  hub.machines.at('off')?.refusal();
  await hub.clock.advance(250);
  t.equal(hub.opened('off').length, 1, 'its status may be wrong');
  await hub.clock.advance(120_000);
  t.equal(hub.opened('off').length, 1);
});

t.test('[I.hub.mqtt.broker] the broker is lost, and back', async (t) => {
  const hub = await play();
  hub.status('pc', 'online');
  await hub.clock.advance(100);
  await hub.greet('pc');
  hub.disconnect();
  t.match(hub.stateOf('pc'), { state: 'down', reason: 'the broker is unreachable' });
  await hub.clock.advance(120_000);
  t.equal(hub.opened('pc').length, 1);
  await hub.connect();
  await hub.clock.advance(250);
  t.equal(hub.opened('pc').length, 2);
  await hub.greet('pc');
  t.match(hub.stateOf('pc'), { state: 'up' });
  await hub.hub.close();
  t.equal(hub.machines.all.length, 0);
});

t.test('[I.hub.hostile] statuses of machines that never were', async (t) => {
  const hub = await play();
  for (let number = 0; number < 200; number++) hub.status(`ghost${number}`, 'online');
  await hub.clock.advance(100);
  t.equal(hub.opened().length, 50, 'at most 50 sessions at once');
  await hub.clock.advance(1000);
  t.ok(hub.opened().length <= 101, `${hub.opened().length} after a second`);
  await hub.clock.advance(3000);
  t.equal(new Set(hub.opened()).size, 200);
  hub.status('pc', 'online');
  await hub.clock.advance(250);
  await hub.greet('pc');
  t.match(hub.stateOf('pc'), { state: 'up' });
  for (let number = 0; number < 20_010; number++) hub.status(`ghost${number}`, 'offline', false);
  t.equal(hub.machines.all.length, 20_000);
});
