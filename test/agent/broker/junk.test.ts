/** A broker that keeps the states of any number of machines that never were: those that are there are listed, in few bytes. */
import t from 'tap';
import { createCounters, type RemoteDeps } from '#src/agent/remote/deps.js';
import { Hosts } from '#src/agent/remote/hosts.js';
import { TIMES } from '#src/agent/remote/times.js';
import { Broker } from '#src/agent/transports/mqtt/broker.js';
import { Budget } from '#src/agent/transports/mqtt/budget.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { Quota } from '#src/fairness/quota.js';
import { ViewerCounts } from '#src/http/clients/viewer-counts.js';
import { CommandGateway } from '#src/hub/commands/command-gateway.js';
import { RemoteMachines } from '#src/hub/remote-machine.js';
import { Listeners } from '#src/listeners.js';
import { createLog } from '#src/log/log.js';
import { Registry } from '#src/machine/registry.js';
import type { OpenBrokerLink } from '#src/mqtt/mqtt-link.js';
import { viewOf } from '#src/stats/view.js';
import { Streams } from '#src/streams/streams.js';
import { Fleet } from '#src/viewers/fleet/fleet.js';
import { filterOf } from '#src/viewers/fleet/fleet-filter.js';
import { HostLists } from '#src/viewers/fleet/host-lists.js';
import { FakeClock } from '../../helpers/fakes/clock.ts';
import { callerAt } from '../../helpers/fakes/sender.ts';

const ALL = filterOf(new URLSearchParams());
/** An address may take a quarter of `server.max_kept_megabytes`, and several of its clients may be slow. */
const MAX_LIST_BYTES = 2 * 2 ** 20;
const LABELS = Object.fromEntries(
  Array.from({ length: 16 }, (_, i) => [`${'n'.repeat(60)}${i}`, '€'.repeat(64)]),
);

/** A hub behind a broker that a test plays. Machines in `there` answer. */
function play() {
  const clock = new FakeClock();
  const log: string[] = [];
  const there = new Set<string>();
  const subscriptions: (readonly string[])[] = [];
  let asked = 0;
  const base: RemoteDeps = {
    name: 'hub1',
    clock,
    times: TIMES,
    quota: new Quota(),
    random: () => 0.5,
    log: createLog((line) => log.push(line), 'warn'),
    counters: createCounters(),
    conditions: new Listeners<readonly [id: string]>(),
  };
  const registry = new Registry({
    path: undefined,
    clock,
    log: base.log,
    machines: () => hosts.all,
    onNewRun: () => undefined,
  });
  const deps = { ...base, registry };
  const hosts: Hosts = new Hosts({}, deps, () => {
    throw new Error('none dials in');
  });
  const gateway = new CommandGateway({ rules: {}, clock, times: TIMES, log: deps.log });
  const machines = new RemoteMachines(hosts, gateway, registry);
  type Message = Parameters<Parameters<OpenBrokerLink>[3]['onMessage']>[0];
  let events: Parameters<OpenBrokerLink>[3] | undefined;
  const take = (topic: string, payload: string, isRetained: boolean) => {
    const message: Message = { topic, payload: Buffer.from(payload), isRetained, isRepeated: false, qos: 0 };
    events?.onMessage(message);
  };
  const connection = {
    quietMs: 0,
    waitingBytes: 0,
    check: () => undefined,
    async subscribe(topics: readonly string[]) {
      subscriptions.push(topics);
      return [];
    },
    unsubscribe: async () => undefined,
    async send(topic: string, payload: string) {
      const [, id = ''] = topic.split('/');
      if (!topic.endsWith('/cmd/get')) return;
      asked++;
      const answer = { id: JSON.parse(payload).id, stage: 'done', result: {}, run: 'r', clock: clock.now() };
      if (there.has(id))
        clock.setTimer(() => take(`hostwire/${id}/hub/feedback/hub1`, JSON.stringify(answer), false), 50);
    },
  };
  const openLink = ((_url: string, _settings: object, _id: string, given: Parameters<OpenBrokerLink>[3]) => {
    events = given;
    return { connection, reportRefusal: () => undefined, close: async () => undefined };
  }) as unknown as OpenBrokerLink; // As much of a link as the hub uses.
  const settings = { ...DEFAULT_CONFIG.hub.mqtt, name: 'hub1' };
  const broker = new Broker(deps, hosts, 'mqtt://broker', settings, openLink);
  events?.beforeOnline?.(connection as never); // The same.
  return {
    clock,
    log,
    there,
    hosts,
    deps,
    take,
    broker,
    subscriptions,
    machines,
    lists: new HostLists(hosts, registry, clock),
    asked: () => asked,
    status: (id: string, isRetained = true, more: object = {}) =>
      take(`hostwire/${id}/hub/status`, JSON.stringify({ state: 'online', run: 'r', ...more }), isRetained),
  };
}

const junkId = (number: number) => `junk${number}`.padEnd(64, '-');
const JUNK = { name: 'x'.repeat(253), labels: LABELS };

t.test('[I.hub.hostile] 20,000 kept states of machines that never answer, 50 that do', async (t) => {
  const { clock, log, there, hosts, deps, status, lists, asked } = play();
  const real = Array.from({ length: 50 }, (_, i) => `real${i}`);
  for (const id of real) there.add(id);
  // Some are delivered before the others, most of them after.
  for (const id of real.slice(0, 5)) status(id);
  for (let i = 0; i < 20_000; i++)
    status(junkId(i), true, { ...JUNK, state: i % 2 === 0 ? 'online' : 'offline' });
  for (const id of real.slice(5)) status(id);
  t.ok(lists.json(ALL).length < MAX_LIST_BYTES, `${lists.json(ALL).length} bytes at the beginning`);
  const findUp = () => hosts.all.filter(({ condition }) => condition.state === 'up').map(({ id }) => id);
  let most = 0;
  let seconds = 0;
  for (; seconds < 60 && findUp().length < real.length; seconds++) {
    const before = asked();
    await clock.advance(1000);
    most = Math.max(most, asked() - before);
  }
  t.same(findUp().sort(), real.sort(), `all that are there are found, in ${seconds} s`);
  t.ok(most <= 400, `${most} are asked in one second at most`);
  const list = lists.json(ALL);
  t.ok(list.length < MAX_LIST_BYTES, `${list.length} bytes`);
  const { hosts: rows } = JSON.parse(list.toString());
  t.ok(rows.length < 1000, `${rows.length} rows`);
  const streams = new Streams({ clock, quota: deps.quota, counts: new ViewerCounts() });
  const fleet = new Fleet({ ...deps, hosts, streams }, 1000);
  const member = { publish: () => undefined };
  const group = fleet.join(ALL, viewOf(31, false), member, callerAt('10.0.0.1'));
  t.ok(group.whole().event.length < MAX_LIST_BYTES, 'the first event of the fleet');
  group.leave(member);
  t.ok(log.filter((line) => /junk/.test(line)).length < 20, 'no line for each');
  t.ok(log.some((line) => /too many retained statuses .*; not all are shown/.test(line)));
});

t.test('[I.hub.hostile] a new machine gets in, however many states are kept', async (t) => {
  const { there, hosts, status, log } = play();
  for (let i = 0; i < 30_000; i++) status(junkId(i), true, { state: i < 26_000 ? 'online' : 'offline' });
  there.add('new');
  status('new', false, { labels: { site: 'berlin' }, name: 'new.lan' });
  t.match(hosts.get('new')?.row, { state: 'up', name: 'new.lan', labels: { site: 'berlin' } });
  t.ok(log.some((line) => /too many retained statuses .*; the oldest are dropped/.test(line)));
});

t.test('[I.hub.hostile] machines that are there share the bytes of names and labels', async (t) => {
  const { hosts, status, lists, log } = play();
  for (let i = 0; i < 3000; i++) status(`m${i}`, false, JUNK);
  const list = lists.json(ALL);
  t.ok(list.length < 3000 * 400 + 4 * 2 ** 20, `${list.length} bytes`);
  t.equal(hosts.all.length, 3000, 'each is listed');
  t.match(hosts.get('m0')?.row, { name: JUNK.name });
  t.match(hosts.get('m2999')?.row, { state: 'up', name: 'm2999', labels: {} }, 'by its id alone');
  t.equal(log.filter((line) => /too long/.test(line)).length, 1);
});

t.test('[I.hub.cluster] a state that a server gets late is read later', async (t) => {
  const { clock, there, hosts, status, subscriptions } = play();
  const states = 'hostwire/+/hub/status';
  there.add('late').add('here');
  status('here');
  await clock.advance(9000);
  t.same(subscriptions, [[states, 'hostwire/+/hub/feedback/hub1']]);
  await clock.advance(2000);
  t.same(subscriptions.slice(1), [[states]], 'once more');
  status('late');
  // As old as the server's copy may be.
  status('here', true, { state: 'offline' });
  await clock.advance(2000);
  t.same(hosts.all.map(({ id, isUp }) => [id, isUp]).sort(), [
    ['here', true],
    ['late', true],
  ]);
  await clock.advance(46_000);
  t.equal(subscriptions.length, 2);
  await clock.advance(2000);
  t.same(subscriptions.slice(2), [[states]], 'and again after a minute, for servers that are busy');
  await clock.advance(120_000);
  t.equal(subscriptions.length, 3);
});

t.test('a budget', async (t) => {
  const budget = new Budget<string>(10);
  t.equal(budget.take('a', 6), true);
  t.equal(budget.take('b', 5), false);
  t.equal(budget.take('a', 10), true, 'in the place of what it had');
  t.equal(budget.take('a', 11), false);
  t.equal(budget.freeBytes, 10, 'it has none then');
});
