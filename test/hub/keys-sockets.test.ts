/**
 * Every op, action and topic of a hub's WebSockets for every scope: for a machine that the hub connects to, one that dials in, and
 * one whose key for the hub has fewer scopes than the client.
 */
import t, { type Test } from 'tap';
import { SCOPES, type Scope } from '#src/scopes.js';
import { SocketClient } from '../helpers/clients/socket.ts';
import { bearer, keyOf, keyWith, may } from '../helpers/keys.ts';
import { Many } from '../helpers/many.ts';
import { CLOSED, connect, PAST, testBothWays } from './keys-setup.ts';
import { BAD_KEYS, neededByTopic, OP_CASES, type OpCase, TOPICS } from './scope-cases.ts';
import { type StartedHub, startHub } from './setup.ts';
import { HubClient } from './socket-setup.ts';

t.setTimeout(280_000);

/** Messages of one socket: more at a time would be limited by its rate. */
const AT_A_TIME = 30;

/** A client on the socket of all machines, or on that of one, whose messages do not name it. */
interface SocketPath {
  readonly path: string;
  readonly named: object;
}

const socketPathsOf = (id: string): readonly SocketPath[] => [
  { path: '/api/ws', named: { host: id } },
  { path: `/api/hosts/${id}/ws`, named: {} },
];

interface Refusal {
  readonly code?: unknown;
  readonly details?: { readonly scope?: unknown };
}

async function judgeOps(
  many: Many,
  t: Test,
  hub: StartedHub,
  { path, named }: SocketPath,
  key: string,
  held: readonly Scope[],
  cases: readonly OpCase[] = OP_CASES,
): Promise<void> {
  for (let at = 0; at < cases.length; at += AT_A_TIME) {
    const client = await HubClient.open(t, hub, path, bearer(key));
    for (const { op, data, needed } of cases.slice(at, at + AT_A_TIME)) {
      const { type, data: told } = await client.ask(op, { ...named, data });
      const { code, details } = told as Refusal;
      const what = `${key} ${held.join()}: ${path} ${op} ${JSON.stringify(data)}`;
      if (may(held, needed)) many.ok(code !== 'FORBIDDEN', `${what}: ${JSON.stringify(told)}`);
      else many.strictSame([type, code, details?.scope], ['error', 'FORBIDDEN', needed], what);
    }
    client.socket.cut();
  }
}

/** Topics that may be seen are subscribed to, and the others are named. */
async function judgeTopics(many: Many, t: Test, hub: StartedHub, { path, named }: SocketPath, scope: Scope) {
  const client = await HubClient.open(t, hub, path, bearer(scope));
  const isSeen = (topic: string) => may([scope], neededByTopic(topic));
  const { data } = await client.ask('subscribe', { ...named, data: { topics: [...TOPICS, 'nonsense'] } });
  const forbidden = TOPICS.filter((topic) => !isSeen(topic));
  many.strictSame(
    data,
    {
      topics: TOPICS.filter(isSeen),
      unknown: ['nonsense'],
      ...(forbidden.length === 0 ? {} : { forbidden }),
    },
    `${scope}: ${path}`,
  );
  client.socket.cut();
}

async function judgeClients(t: Test, hub: StartedHub, id: string): Promise<void> {
  const many = new Many(t);
  for (const socketPath of socketPathsOf(id)) {
    // With `metrics` alone nothing can be done on a machine: keys-ids.test.ts.
    for (const scope of SCOPES.filter((each) => each !== 'metrics')) {
      await judgeOps(many, t, hub, socketPath, scope, [scope]);
      await judgeTopics(many, t, hub, socketPath, scope);
    }
    for (const headers of BAD_KEYS) {
      const { status } = await SocketClient.refusal(hub.port, { path: socketPath.path, headers });
      many.equal(status, 401, JSON.stringify(headers));
    }
  }
  t.ok(many.count > 800, `${many.count} assertions of ${OP_CASES.length} messages`);
}

testBothWays(t, '[10.keys-hub-ops] each message for each key', judgeClients);

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
    await judgeOps(many, t, hub, socketPath, 'admin', ['read', 'media', 'power.sleep']);
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
