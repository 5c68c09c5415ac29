/** /api/fleet/stream and /api/hosts: what changed per interval, filters, viewers that missed something. */
import t, { type Test } from 'tap';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import { until } from '../helpers/until.ts';
import {
  fleetEvents,
  isUp,
  PlayedMachine,
  type SeenFleetEvent,
  type StartedHub,
  startHub,
} from '../hub/setup.ts';
import { HubClient } from '../hub/socket-setup.ts';

/** Returns a viewer's knowledge after these events. */
function stateAfter(events: readonly SeenFleetEvent[]): ReadonlyMap<string, SeenFleetEvent['hosts'][string]> {
  const known = new Map<string, SeenFleetEvent['hosts'][string]>();
  for (const { all, hosts, removed } of events) {
    if (all) known.clear();
    for (const [id, host] of Object.entries(hosts)) known.set(id, host);
    for (const id of removed) known.delete(id);
  }
  return known;
}

async function startThree(test: Test) {
  const [a, b] = [await PlayedMachine.start(test), await PlayedMachine.start(test)];
  const agents = {
    a: { url: a.url, labels: { site: 'berlin', role: 'web' } },
    b: { url: b.url, labels: { site: 'paris', role: 'web' } },
    gone: { url: 'http://127.0.0.1:1', labels: { site: 'berlin' } },
  };
  const hub = await startHub(test, agents);
  await hub.host('a', isUp);
  await hub.host('b', isUp);
  await hub.host('gone', ({ reason }) => reason === 'connection refused');
  return { a, b, agents, hub };
}

const fleet = async (hub: StartedHub, query = '') => {
  const stream = await hub.open(`/api/fleet/stream${query}`);
  return {
    stream,
    events: () => fleetEvents(stream),
    /** As soon as `isWanted` of what the viewer knows. */
    when: async (isWanted: (known: ReturnType<typeof stateAfter>) => boolean) =>
      await until(() => {
        const known = stateAfter(fleetEvents(stream));
        return isWanted(known) ? known : undefined;
      }),
  };
};

/** Time after which samples that have not arrived are sent again. */
const RESEND_MS = 10_000;

t.test('[I.hub.fleet] the first event has all, later ones what changed', async (t) => {
  const { a, b, hub } = await startThree(t);
  const viewer = await fleet(hub, '?fields=cpu');
  const first = await viewer.when((known) => known.size === 3);
  t.equal(viewer.events()[0]?.all, true);
  t.match(first.get('a'), { state: 'up' });
  t.match(first.get('gone'), { state: 'unknown', reason: 'connection refused' });
  await until(() => a.streams === 1 && b.streams === 1);
  t.strictSame([...a.queries, ...b.queries], ['cpu', 'cpu'], 'watching is wanting samples');
  a.sample({ timestamp: 1, cpu: { odd: '}"{' } });
  const known = await viewer.when((all) => all.get('a')?.sample !== undefined);
  t.strictSame(known.get('a')?.sample, { timestamp: 1, cpu: { odd: '}"{' } });
  b.sample({ timestamp: 2, cpu: {} });
  await viewer.when((all) => all.get('b')?.sample !== undefined);
  const last = viewer.events().at(-1);
  t.strictSame(Object.keys(last?.hosts ?? {}), ['b'], 'only what changed');
  t.equal(last?.all, false);
  const late = await fleet(hub, '?fields=cpu');
  const whole = await late.when((all) => all.size === 3);
  t.strictSame(whole.get('a')?.sample, known.get('a')?.sample, 'a new viewer gets what is known');
  t.equal(late.events()[0]?.all, true);
});

t.test('[I.hub.fleet] a state that changes, an agent that is removed', async (t) => {
  const { a, agents, hub } = await startThree(t);
  const viewer = await fleet(hub);
  await until(() => a.streams === 1);
  a.sample({ timestamp: 1 });
  await viewer.when((known) => known.get('a')?.sample !== undefined);
  a.stop();
  const known = await viewer.when((all) => all.get('a')?.state === 'down');
  t.equal(known.get('a')?.sample, undefined, 'no old sample');
  const { a: _, ...others } = agents;
  hub.reconfigure(others);
  await viewer.when((all) => !all.has('a'));
  t.ok(viewer.events().some(({ removed }) => removed.includes('a')));
});

t.test('[I.hub.fleet] a machine that is watched before it is up is shown with its name', async (t) => {
  const port = await findFreePort();
  const hub = await startHub(t, { late: { url: `http://127.0.0.1:${port}` } });
  const viewer = await fleet(hub);
  await viewer.when((known) => known.get('late')?.state === 'unknown');
  const agent = await PlayedMachine.start(t, port);
  await until(() => agent.streams === 1);
  agent.sample({ timestamp: 1 });
  await hub.host('late', ({ name }) => name === 'played');
  t.equal(agent.streams, 1, 'its stream goes on');
});

t.test('[I.hub.filters] by label, by state', async (t) => {
  const { a, hub } = await startThree(t);
  const ids = async (query: string) => (await hub.hosts(query)).map(({ id }) => id).join();
  t.equal(await ids(''), 'a,b,gone');
  t.equal(await ids('?label=site:berlin'), 'a,gone');
  t.equal(await ids('?label=site:berlin&label=role:web'), 'a');
  t.equal(await ids('?label=site:rome'), '');
  t.equal(await ids('?label=toString:x'), '');
  t.equal(await ids('?state=up'), 'a,b');
  t.equal(await ids('?state=unknown&state=down&label=site:berlin'), 'gone');
  for (const query of [
    'state=UP',
    'state=',
    'state=up&state=gone',
    'label=x',
    'label=:x',
    'label=',
    `label=a:${'x'.repeat(200)}`,
  ])
    for (const path of ['/api/hosts', '/api/fleet/stream']) {
      const answer = await ask(hub.port, `${path}?${query}`);
      t.equal(answer.status, 400, query);
      t.match(jsonOf(answer), { code: 'invalid_value' });
    }
  const berlin = await fleet(hub, '?label=site:berlin&state=up');
  t.strictSame([...(await berlin.when((known) => known.size > 0)).keys()], ['a']);
  await until(() => a.streams === 1);
  a.stop();
  await berlin.when((known) => !known.has('a'));
});

t.test('[I.hub.hostile] samples that are too long for one event cost others nothing', async (t) => {
  const large = await Promise.all(Array.from({ length: 10 }, () => PlayedMachine.start(t)));
  const good = await PlayedMachine.start(t);
  const urls = large.map(({ url }, i) => [`large${i}`, { url }] as const);
  const hub = await startHub(t, { ...Object.fromEntries(urls), good: { url: good.url } });
  const viewer = await fleet(hub);
  const socket = await HubClient.open(t, hub);
  await until(() => [...large, good].every(({ streams }) => streams === 1));
  const haveArrived = async () =>
    (await hub.hosts()).every(({ id, sample_age: age }) => id === 'good' || age !== null);
  await until(async () => {
    for (const agent of large) agent.sample({ timestamp: 1, later: 'x'.repeat(0.95 * 2 ** 20) });
    // Sent again where a connection was made anew on a busy machine: what was on its way is lost.
    return await until(haveArrived, 'all samples', RESEND_MS).catch(() => false);
  });
  good.sample({ timestamp: 1 });
  await viewer.when((known) => known.get('good')?.sample !== undefined);
  // Each event has all that changed in its interval: of a new viewer that is all that there is.
  const late = await fleet(hub);
  const known = await late.when((all) => all.size === 11);
  t.match(known.get('good')?.sample, { timestamp: 1 });
  for (const [id] of urls) t.strictSame([known.get(id)?.state, known.get(id)?.sample], ['up', undefined], id);
  socket.say('subscribe', { data: { topics: ['fleet'] } });
  const { data } = await socket.take('fleet');
  t.match(data['hosts'], { good: { sample: { timestamp: 1 } } }, 'a socket is not cut');
  t.equal(hub.log.filter((line) => /are too large/.test(line)).length, 1);
});

const KEY = 'k'.repeat(40);
/** Everyone may read; who sends the key is known. */
const OPEN = { auth: { api_key: KEY } };

t.test(
  '[I.hub.filters] one address does not use up the different filters, clients without the key neither',
  async (t) => {
    const hub = await startHub(t, { gone: { url: 'http://127.0.0.1:1' } }, OPEN);
    const open = (label: string, address: string, headers = {}) =>
      EventStream.openIn(t, hub.port, `/api/fleet/stream?label=${label}`, headers, address);
    const openMany = async (count: number, name: string, address: string, headers = {}) => {
      const opened: EventStream[] = [];
      for (let i = 0; i < count; i++) {
        const stream = await open(`${name}:${i}`, address, headers);
        if (stream.head.status === 200) opened.push(stream);
      }
      return opened;
    };
    const first = await openMany(64, 'a', '127.0.0.2');
    t.equal(first.length, 16, 'a quarter');
    t.equal((await open('b:0', '127.0.0.3')).head.status, 200, 'another address');
    t.equal((await open('a:0', '127.0.0.2')).head.status, 200, 'one that is in use is shared');
    t.equal((await open('b:0', '127.0.0.2')).head.status, 200, 'also one of another address');
    t.equal((await hub.open('/api/fleet/stream?fields=cpu')).head.status, 200, 'one without a filter');
    t.equal((await openMany(64, 'c', '127.0.0.4')).length, 16);
    t.equal((await openMany(64, 'd', '127.0.0.5')).length, 15, 'three quarters for clients without the key');
    t.equal((await openMany(64, 'e', '127.0.0.6')).length, 0);
    const keyed = await openMany(64, 'f', '127.0.0.6', { Authorization: `Bearer ${KEY}` });
    t.equal(keyed.length, 16, 'and the rest for those with it');
    const client = await HubClient.open(t, hub);
    const refused = await client.ask('subscribe', { data: { topics: ['fleet'], labels: ['g:1'] } });
    t.equal(refused.type, 'error');
    const whole = await client.ask('subscribe', { data: { topics: ['fleet'] } });
    t.equal(whole.type, 'subscribed');
  },
);

t.test('[I.hub.filters] a filter counts for the viewer that is still there', async (t) => {
  const hub = await startHub(t, { gone: { url: 'http://127.0.0.1:1' } });
  const open = async (label: string, address: string) =>
    await EventStream.open(hub.port, `/api/fleet/stream?label=${label}`, {}, address);
  const [owner, stranger] = ['127.0.0.2', '127.0.0.3'];
  for (let i = 0; i < 16; i++) {
    const [own, joined] = [await open(`a:${i}`, owner), await open(`a:${i}`, stranger)];
    t.teardown(() => joined.close());
    own.close();
  }
  // Filters that the stranger keeps open count for it, and not for the address that opened them first.
  await until(async () => (await open('b:1', owner)).head.status === 200);
  t.equal((await open('b:2', stranger)).head.status, 503);
});
