/**
 * Every route, op, action and topic of a hub for every scope, without a key and with keys that are wrong: for a machine that the
 * hub connects to, one that dials in, and one whose key for the hub does not allow what the client may do.
 */
import t from 'tap';
import { SCOPES, type Scope } from '#src/scopes.js';
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
import { routeCases } from './scope-cases.ts';
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
