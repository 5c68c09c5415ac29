/**
 * Every route, op, action and topic of a hub for every scope, without a key and with keys that are wrong: for a machine that the
 * hub connects to, one that dials in, and one whose key for the hub does not allow what the client may do.
 * A key without `read` cannot distinguish a machine on which it may do nothing from one that the hub does not have.
 */
import t from 'tap';
import { SCOPES, type Scope } from '#src/scopes.js';
import { ask, valuesOf } from '../helpers/clients/http.ts';
import { bearer, keyOf, keyWith, may } from '../helpers/keys.ts';
import { Many } from '../helpers/many.ts';
import { startCommanded } from './commanded.ts';
import {
  CLOSED,
  connect,
  judge,
  judgeOps,
  judgeRoutes,
  judgeSockets,
  PAST,
  type Refusal,
  socketPathsOf,
  testBothWays,
} from './keys-setup.ts';
import { OP_CASES, routeCases } from './scope-cases.ts';
import { isUp, startHub } from './setup.ts';
import { HubClient } from './socket-setup.ts';

t.setTimeout(280_000);

testBothWays(t, '[10.keys-hub] each request for each key', (t, { port }, id) =>
  judgeRoutes(t, port, routeCases(id)),
);

t.test('[10.keys-agent] each request through a hub whose key at the machine has fewer scopes', async (t) => {
  const many = new Many(t);
  const pairs = SCOPES.map((scope): readonly Scope[] => (scope === 'read' ? ['read'] : ['read', scope]));
  const names = pairs.map((held) => held.join('-').replaceAll('.', '-'));
  const keys = Object.fromEntries(pairs.map((held, at) => [names[at], keyWith(`${at}`, ...held)]));
  const { service } = await startCommanded(t, { ...PAST, auth: { enabled: true, keys } });
  const agents = Object.fromEntries(
    pairs.map((_, at) => [
      `m${at}`,
      { url: service.baseUrl, key_file: { path: 'k', secret: keyOf(`${at}`) } },
    ]),
  );
  const hub = await startHub(t, agents);
  for (const [at, held] of pairs.entries()) {
    const { scopes } = await hub.host(`m${at}`, isUp);
    t.strictSame(scopes, held.includes('admin') ? undefined : held, '/api/hosts shows what it may do there');
  }
  hub.reconfigure(agents, CLOSED);
  for (const [at, held] of pairs.entries())
    for (const each of routeCases(`m${at}`))
      if (each.isForwarded) await judge(many, hub.port, each, 'admin', held);
  t.ok(many.count > 400, `${many.count} assertions`);
});

testBothWays(t, '[10.keys-hub-ops] each message for each key', (t, { port }, id) =>
  judgeSockets(t, port, socketPathsOf(id)),
);

t.test('[10.keys-hub-ops] all machines together, for each key', async (t) => {
  const many = new Many(t);
  const hub = await startHub(t, {}, CLOSED);
  for (const scope of SCOPES) {
    const client = await HubClient.open(t, hub, '/api/ws', bearer(scope));
    const isReader = may([scope], 'read');
    const list = await client.ask('hosts', {});
    many.strictSame(
      [list.type, (list.data as Refusal).details?.scope],
      isReader ? ['hosts', undefined] : ['error', 'read'],
      scope,
    );
    const { type, data } = await client.ask('subscribe', { data: { topics: ['fleet'] } });
    const none = { topics: [], unknown: [], forbidden: ['fleet'] };
    many.strictSame(
      [type, data],
      ['subscribed', isReader ? { topics: ['fleet'], unknown: [] } : none],
      scope,
    );
    many.equal((await client.ask('unsubscribe', {})).type, 'subscribed', 'needs no scope');
    const events = (await client.settle()).filter((told) => told.type === 'fleet');
    many.equal(events.length > 0, isReader, `${scope}: events of the fleet`);
    client.socket.cut();
  }
  t.equal(many.count, SCOPES.length * 4);
});

t.test('[10.keys-agent] each message through a hub whose key at the machine has fewer scopes', async (t) => {
  const many = new Many(t);
  const keys = { hub: keyWith('hub', 'read', 'media', 'power.sleep') };
  const { hub, agents } = await connect(t, { ...PAST, auth: { enabled: true, keys } }, keyOf('hub'));
  hub.reconfigure(agents, CLOSED);
  for (const socketPath of socketPathsOf('a'))
    await judgeOps(many, t, hub.port, socketPath, 'admin', ['read', 'media', 'power.sleep']);
  t.ok(many.count > 60, `${many.count} assertions`);
  // The client may see the topic, and learns with its subscription that the hub may not.
  const client = await HubClient.open(t, hub, '/api/ws', bearer('admin'));
  client.say('subscribe', { host: 'a', data: { topics: ['stats', 'processes'] } }, 's');
  const refused = await client.take((told) => told.type === 'error');
  t.match(refused, {
    id: 's',
    data: {
      code: 'FORBIDDEN',
      message: 'The key of the hub at this machine needs the scope processes.',
      details: { topic: 'processes', scope: 'processes' },
    },
  });
  await client.take('system_stats');
});

const HIDDEN = 'cellar';
const NONE = 'nobody';
/** On one machine of the two. */
const ALLOWED = 'living';

const agents = Object.fromEntries([HIDDEN, ALLOWED].map((id) => [id, { url: 'http://127.0.0.1:9' }]));
const CONFIG = {
  auth: {
    enabled: true,
    keys: { remote: keyWith('remote', 'media', 'metrics'), prometheus: keyWith('prometheus', 'metrics') },
  },
  hub: { commands: { remote: { commands: ['media.*'], keys: ['remote'], hosts: [ALLOWED], labels: {} } } },
} as const;

t.test('[10.keys-hub-ids] over HTTP, and by the upgrade of a WebSocket', async (t) => {
  const hub = await startHub(t, agents);
  hub.reconfigure(agents, CONFIG);
  const many = new Many(t);
  for (const key of ['remote', 'prometheus']) {
    const told = async (id: string) => {
      // A key with `metrics` sees every machine in the metrics of the hub, and may ask for those of each.
      const cases = routeCases(id).filter(({ name }) => name !== 'getHostMetrics');
      const answers = cases.map(async ({ name, method, target, body = '' }) => {
        const headers = { ...bearer(key), 'Content-Type': 'application/json' };
        const answer = await ask(hub.port, target, {
          method,
          headers,
          ...(method === 'POST' ? { body } : {}),
        });
        const text = answer.body.toString();
        return [name, answer.status, valuesOf(answer, 'x-error-code'), name === 'getMetrics' ? '' : text];
      });
      return await Promise.all(answers);
    };
    const [hidden, none] = [await told(HIDDEN), await told(NONE)];
    for (const [at, answer] of hidden.entries()) many.strictSame(answer, none[at], `${key}: ${answer[0]}`);
    many.notMatch(JSON.stringify(hidden), new RegExp(`${HIDDEN}|${ALLOWED}`));
  }
  t.ok(many.count > 60, `${many.count} assertions`);
  const play = { method: 'POST', headers: { ...bearer('remote'), 'Content-Type': 'application/json' } };
  const asked = (id: string) =>
    ask(hub.port, `/api/hosts/${id}/media/control`, { ...play, body: '{"action":"play"}' });
  t.match(
    (await asked(HIDDEN)).body.toString(),
    'This hub has no machine of that name on which this key may do anything.',
  );
  t.notOk([403, 404].includes((await asked(ALLOWED)).status), 'one that it may use is asked');
});

t.test('[10.keys-hub-ids] over the WebSocket of all machines', async (t) => {
  const hub = await startHub(t, agents);
  hub.reconfigure(agents, CONFIG);
  const many = new Many(t);
  for (const key of ['remote', 'prometheus'])
    for (let at = 0; at < OP_CASES.length; at += 10) {
      const client = await HubClient.open(t, hub, '/api/ws', bearer(key));
      for (const { op, data } of OP_CASES.slice(at, at + 10)) {
        const told = async (host: string) => {
          const { type, data: answer } = await client.ask(op, { host, data });
          return JSON.stringify([type, answer]).replaceAll(host, 'HOST');
        };
        many.equal(await told(HIDDEN), await told(NONE), `${key}: ${op} ${JSON.stringify(data)}`);
      }
      many.notMatch(JSON.stringify(client.told.filter(({ host }) => host === undefined)), new RegExp(HIDDEN));
      client.socket.cut();
    }
  t.ok(many.count > 60, `${many.count} assertions`);
});
