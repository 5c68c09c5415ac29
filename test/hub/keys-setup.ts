/** A hub that knows the keys of every scope, with one machine, however that is connected to it; and what each key may do. */
import type { Test } from 'tap';
import { SCOPES, type Scope } from '#src/scopes.js';
import { ask, valuesOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { bearer, KEYS, may } from '../helpers/keys.ts';
import { Many } from '../helpers/many.ts';
import type { ConfigPart } from '../helpers/service/service.ts';
import { type Commanded, startCommanded } from './commanded.ts';
import { dialled, dialPart } from './dial-in/setup.ts';
import { BAD_KEYS, neededByTopic, OP_CASES, type OpCase, type RouteCase, TOPICS } from './scope-cases.ts';
import { type Agents, isUp, type StartedHub, startHub } from './setup.ts';
import { HubClient } from './socket-setup.ts';

/** For the machine: what a client may ask about the past. */
export const PAST: ConfigPart = { history: { minutes: 60 } };
/** For the hub: a key is needed, and every key may command what its scopes allow. */
export const CLOSED: ConfigPart = {
  auth: { enabled: true, keys: KEYS },
  hub: { commands: { all: { commands: ['*'], labels: {} } } },
};

/** The machine `id` in this process, and a hub in front of it that shows it as up. */
export interface KeyRig {
  readonly machine: Commanded;
  readonly hub: StartedHub;
  readonly agents: Agents;
  readonly id: string;
}

/** The hub connects to the machine, whose configuration has `more`, with the key `secret` if it needs one. */
export async function connect(t: Test, more: ConfigPart, secret?: string): Promise<KeyRig> {
  const machine = await startCommanded(t, more);
  const key = secret === undefined ? {} : { key_file: { path: 'k', secret } };
  const agents = { a: { url: machine.service.baseUrl, ...key } };
  const hub = await startHub(t, agents);
  await hub.host('a', isUp);
  return { machine, hub, agents, id: 'a' };
}

/** The machine dials in. */
export async function dialIn(t: Test, more: ConfigPart): Promise<KeyRig> {
  const agents = { pc: dialled() } as unknown as Agents; // Without a URL.
  const hub = await startHub(t, agents);
  const machine = await startCommanded(t, { ...more, host: { id: 'pc' }, hub: dialPart(hub) });
  await hub.host('pc', isUp);
  return { machine, hub, agents, id: 'pc' };
}

/** Tests `judge` with the hub and the id of its machine. */
export function testBothWays(
  t: Test,
  name: string,
  judge: (t: Test, hub: StartedHub, id: string) => Promise<void>,
): void {
  for (const [how, start] of [
    ['that the hub connects to', connect],
    ['that dials in', dialIn],
  ] as const)
    t.test(`${name}, at a machine ${how}`, async (t) => {
      const { hub, agents, id } = await start(t, PAST);
      hub.reconfigure(agents, CLOSED);
      await judge(t, hub, id);
    });
}

const send = async (
  port: number,
  { method, target, body }: RouteCase,
  headers: Readonly<Record<string, string>>,
) =>
  await ask(port, target, {
    method,
    headers: { ...headers, ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}) },
    ...(body === undefined ? {} : { body }),
  });

/** Judges the answer to a client that has `held`, where it is asked for. */
export async function judge(
  many: Many,
  port: number,
  each: RouteCase,
  client: string,
  held: readonly Scope[],
) {
  const answer = await send(port, each, bearer(client));
  const what = `${client} ${held.join()}: ${each.method} ${each.target}`;
  const required = valuesOf(answer, 'x-required-scope');
  const code = valuesOf(answer, 'x-error-code');
  if (may(held, each.needed)) {
    many.ok(![401, 403].includes(answer.status), `${what}: ${answer.status} ${code.join()}`);
    many.strictSame(required, [], what);
  } else
    many.strictSame(
      [answer.status, answer.body.length, code, required],
      [403, 0, ['scope_required'], [each.needed]],
      what,
    );
}

/** Sends each request with each key to a service or hub that knows the keys. */
export async function judgeRoutes(t: Test, port: number, cases: readonly RouteCase[]): Promise<void> {
  const many = new Many(t);
  t.strictSame(
    [...new Set(cases.map(({ needed }) => needed))].filter((each) => !SCOPES.includes(each as Scope)).sort(),
    ['any', 'none'],
    'every need is a scope, or one of these',
  );
  for (const each of cases) {
    for (const scope of SCOPES) await judge(many, port, each, scope, [scope]);
    for (const headers of BAD_KEYS) {
      const { status } = await send(port, each, headers);
      many.equal(
        status === 401,
        each.needed !== 'none',
        `${JSON.stringify(headers)} ${each.name}: ${status}`,
      );
    }
  }
  t.ok(many.count > 700, `${many.count} assertions of ${cases.length} requests`);
}

/** Messages of one socket: more at a time would be limited by its rate. */
const AT_A_TIME = 30;

/** A client on the socket of all machines, or on that of one, whose messages do not name it. */
export interface SocketPath {
  readonly path: string;
  readonly named: object;
}

export const socketPathsOf = (id: string): readonly SocketPath[] => [
  { path: '/api/ws', named: { host: id } },
  { path: `/api/hosts/${id}/ws`, named: {} },
];

export interface Refusal {
  readonly code?: unknown;
  readonly details?: { readonly scope?: unknown };
}

/** Sends each message with a key that has `held`. */
export async function judgeOps(
  many: Many,
  t: Test,
  port: number,
  { path, named }: SocketPath,
  key: string,
  held: readonly Scope[],
  cases: readonly OpCase[] = OP_CASES,
): Promise<void> {
  for (let at = 0; at < cases.length; at += AT_A_TIME) {
    const client = await HubClient.open(t, { port }, path, bearer(key));
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
async function judgeTopics(many: Many, t: Test, port: number, { path, named }: SocketPath, scope: Scope) {
  const client = await HubClient.open(t, { port }, path, bearer(scope));
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

/** Sends each message, and subscribes to each topic, with each key. */
export async function judgeSockets(
  t: Test,
  port: number,
  paths: readonly SocketPath[],
  cases: readonly OpCase[] = OP_CASES,
): Promise<void> {
  const many = new Many(t);
  for (const socketPath of paths) {
    // With `metrics` alone nothing can be done on a machine: keys-ids.test.ts.
    for (const scope of SCOPES.filter((each) => each !== 'metrics')) {
      await judgeOps(many, t, port, socketPath, scope, [scope], cases);
      await judgeTopics(many, t, port, socketPath, scope);
    }
    for (const headers of BAD_KEYS) {
      const { status } = await SocketClient.refusal(port, { path: socketPath.path, headers });
      many.equal(status, 401, JSON.stringify(headers));
    }
  }
  t.ok(many.count > 350, `${many.count} assertions of ${cases.length} messages`);
}
