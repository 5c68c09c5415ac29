/** /api/fleet/stream and /api/hosts: what changed per interval, filters, viewers that missed something. */
import t, { type Test } from 'tap';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import {
  fleetEvents,
  isUp,
  PlayedAgent,
  type SeenFleetEvent,
  type StartedHub,
  startHub,
  until,
} from './setup.ts';

/** What a viewer knows after these events. */
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
  const [a, b] = await Promise.all([PlayedAgent.start(test), PlayedAgent.start(test)]);
  if (a === undefined || b === undefined) throw new Error('there are two');
  const agents = {
    a: { url: a.url, labels: { site: 'berlin', role: 'web' } },
    b: { url: b.url, labels: { site: 'paris', role: 'web' } },
    gone: { url: 'http://127.0.0.1:1', labels: { site: 'berlin' } },
  };
  const hub = await startHub(test, agents);
  await hub.host('a', isUp);
  await hub.host('b', isUp);
  await hub.host('gone', ({ reason }) => reason === 'nothing listens there');
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

t.test('[I.hub.fleet] the first event has all, later ones what changed', async (t) => {
  const { a, b, hub } = await startThree(t);
  const viewer = await fleet(hub, '?fields=cpu');
  const first = await viewer.when((known) => known.size === 3);
  t.equal(viewer.events()[0]?.all, true);
  t.match(first.get('a'), { state: 'up' });
  t.match(first.get('gone'), { state: 'down', reason: 'nothing listens there' });
  await until(() => (a.streams === 1 && b.streams === 1 ? true : undefined));
  t.strictSame([...a.queries, ...b.queries], ['fields=cpu', 'fields=cpu'], 'watching is wanting samples');
  a.sample({ timestamp: 1, cpu: { odd: '}"{' } });
  const known = await viewer.when((all) => all.get('a')?.sample !== undefined);
  t.strictSame(known.get('a')?.sample, { timestamp: 1, cpu: { odd: '}"{' } });
  b.sample({ timestamp: 2, cpu: null });
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
  await until(() => (a.streams === 1 ? true : undefined));
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

t.test('[I.hub.fleet] a machine that is watched before it is up gets its name', async (t) => {
  const port = await findFreePort();
  const hub = await startHub(t, { late: { url: `http://127.0.0.1:${port}` } });
  const viewer = await fleet(hub);
  await viewer.when((known) => known.get('late')?.state === 'down');
  const agent = await PlayedAgent.start(t, port);
  await until(() => (agent.streams === 1 ? true : undefined));
  agent.sample({ timestamp: 1 });
  await hub.host('late', ({ name }) => name === 'played');
  t.equal(agent.checks, 1, 'it is asked once');
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
  t.equal(await ids('?state=down&label=site:berlin'), 'gone');
  for (const query of [
    'state=UP',
    'state=',
    'state=up&state=down',
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
  await until(() => (a.streams === 1 ? true : undefined));
  a.stop();
  await berlin.when((known) => !known.has('a'));
});

t.test('[I.hub.hostile] a sample that is no JSON is left out, and the others are sent', async (t) => {
  const { a, b, hub } = await startThree(t);
  const viewer = await fleet(hub);
  await until(() => (a.streams === 1 && b.streams === 1 ? true : undefined));
  a.sample({ timestamp: 1 });
  b.sample({ timestamp: 1 });
  await viewer.when((known) => known.get('a')?.sample !== undefined && known.get('b')?.sample !== undefined);
  const text = 'data: {"timestamp":2}},"x":{}\n\n';
  a.send(`${text.length.toString(16)}\r\n${text}\r\n`);
  b.sample({ timestamp: 2 });
  const known = await viewer.when((all) => {
    const sample = all.get('b')?.sample as { readonly timestamp?: number } | undefined;
    return sample?.timestamp === 2;
  });
  t.strictSame([...known.keys()].sort(), ['a', 'b', 'gone'], 'every event is JSON');
});

t.test('[I.hub.filters] the number of different filters is limited', async (t) => {
  const hub = await startHub(t, { gone: { url: 'http://127.0.0.1:1' } });
  let refused = 0;
  for (let i = 0; i < 70; i++) {
    const answer = hub.open(`/api/fleet/stream?label=a:${i}`);
    if ((await answer).head.status === 503) refused++;
  }
  t.equal(refused, 6);
  t.equal((await hub.open('/api/fleet/stream?label=a:1')).head.status, 200, 'one that is in use is shared');
});
