/**
 * Every request of a hub and of its sockets, generated from the tables, and the scope that docs/keys.md says each needs. The
 * rules are written from that page, and know no more of a request than its path, or its op and topics.
 */
import { REQUESTS } from '#src/machine/requests.js';
import type { Scope } from '#src/scopes.js';
import { TOPIC_NAMES } from '#src/viewers/socket/topics.js';
import { HUB_OPERATIONS } from '#src/wire/hub-operations.js';
import { OPERATIONS, type Operation } from '#src/wire/operations.js';
import { COMMAND_CASES, partsOf } from '../access/command-cases.ts';
import { bearer, type Needed } from '../helpers/keys.ts';

/** By method and path, the first that matches. */
const ROUTE_RULES: readonly (readonly [RegExp, (action: string) => string])[] = [
  [/^GET \/api\/status$|^GET \/(?:hosts\/\w+\/)?$/, () => 'none'],
  // Agents prove themselves there in another way than with a key.
  [/^GET \/api\/agent$/, () => 'none'],
  // The messages of a socket are judged one by one, and the API documents have no data.
  [/^GET \/api\/(?:hosts\/\w+\/)?ws$|^GET \/api\/openapi\.json$/, () => 'any'],
  [/^GET \/(?:api\/hosts\/\w+\/)?metrics$/, () => 'metrics'],
  [/^GET \/api\/keys$/, () => 'admin'],
  [/^GET \/api\/(?:hosts\/\w+\/)?access$/, () => 'any'],
  [/^GET \/api\/(?:hosts\/\w+\/)?(?:processes|history\/processes)\b/, () => 'processes'],
  [/^POST \/api\/(?:hosts\/\w+\/)?processes\/(?:kill|launch)$/, () => 'processes.control'],
  [/^POST \/api\/(?:hosts\/\w+\/)?media\/control$/, () => 'media'],
  [/^POST \/api\/(?:hosts\/\w+\/)?pw\/(\w+)$/, (action) => `power.${action}`],
  [/^POST \/api\/(?:hosts\/\w+\/)?wake$/, () => 'wake'],
  [/^GET \/api\/(?:hosts|fleet|events|usage|stream|system|history|pw|media)\b/, () => 'read'],
  [/^POST \/api\/events\/mute$/, () => 'admin'],
];

function neededBy(method: string, path: string): Needed {
  const text = `${method} ${path}`;
  for (const [pattern, needed] of ROUTE_RULES) {
    const [isMatch, action = ''] = pattern.exec(text) ?? [];
    if (isMatch !== undefined) return needed(action) as Needed; // A test shows that each is a scope.
  }
  throw new Error(`docs/keys.md has no scope for ${text}`);
}

export interface RouteCase {
  /** The name in the table of requests, or of the operation. */
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly body: string | undefined;
  readonly needed: Needed;
  /** The machine answers it, and not the hub alone. */
  readonly isForwarded: boolean;
}

/** Parameters that a machine understands. Nothing is turned off now: a machine that falls asleep leaves its hub. */
function paramsOf(command: string): Readonly<Record<string, unknown>> {
  const { group, action } = partsOf(command);
  if (group === 'power') return action === 'lock' || action === 'cancel' ? {} : { delay: 3600 };
  const cases = Object.values(COMMAND_CASES).flat();
  return cases.find((each) => each.command === command)?.params ?? {};
}

const QUERIES: Readonly<Record<string, string>> = { process_history: '?at=-10', history: '?series=none' };

function forwarded(id: string | undefined): readonly RouteCase[] {
  return [...REQUESTS.values()].map(({ name, operation }) => {
    const { method, path, body }: Operation = OPERATIONS[operation];
    const { group, action } = partsOf(name);
    const base = id === undefined ? '/api/' : `/api/hosts/${id}/`;
    const real = path.replace('/api/', base).replace('*', 'helper');
    const params = method === 'POST' ? paramsOf(name) : {};
    const json = JSON.stringify(group === 'media' ? { action, ...params } : params);
    const query = 'delay' in params ? `?delay=${String(params['delay'])}` : (QUERIES[name] ?? '');
    return {
      name,
      method,
      target: `${real}${query}`,
      body: body === 'json' ? json : undefined,
      needed: neededBy(method, real),
      isForwarded: true,
    };
  });
}

/** Each request of the table at the machine `id`, and each operation that only its hub answers; or those of a service. */
export function routeCases(id?: string): readonly RouteCase[] {
  const cases = forwarded(id);
  const pathOf = ({ path }: Operation) => path.replace('/hosts/*', `/hosts/${id}`).replace('*', 'helper');
  const known = new Set(cases.map(({ target }) => target.split('?')[0]));
  const others = [
    ...Object.entries<Operation>(id === undefined ? OPERATIONS : HUB_OPERATIONS).map(
      ([name, row]) => [name, row.method, pathOf(row)] as const,
    ),
    ['page', 'GET', '/'] as const,
    ...(id === undefined ? [] : [['page of a machine', 'GET', `/hosts/${id}/`] as const]),
  ].filter(([, , path]) => !known.has(path));
  return [
    ...cases,
    ...others.map(([name, method, path]) => ({
      name,
      // A stream would stay open.
      method: path.endsWith('/stream') ? 'HEAD' : method,
      target: path,
      body: undefined,
      needed: neededBy(method, path),
      isForwarded: false,
    })),
  ];
}

export interface OpCase {
  readonly op: string;
  readonly data: object;
  readonly needed: Needed;
}

/** By op, and by the action or the topic. */
function neededByOp(op: string, name = ''): Needed {
  if (op === 'process_kill' || op === 'process_launch') return 'processes.control';
  if (['process_list', 'process_details', 'process_history'].includes(op)) return 'processes';
  if (op === 'media' || op === 'wake') return op;
  if (op === 'power') return `power.${name}` as Scope; // As the page lists them.
  if (op === 'get') return name === 'processes' ? 'processes' : 'read';
  if (op === 'history') return 'read';
  throw new Error(`docs/keys.md has no scope for ${op} ${name}`);
}

const OP_DATA: Readonly<Record<string, object>> = {
  process_details: { name: 'helper' },
  process_history: { at: -10 },
  history: { series: ['none'] },
};

/** The topics that a machine pushes, and a section of its samples. */
export const TOPICS: readonly string[] = ['stats', ...TOPIC_NAMES, 'events'];

/** Each op and action, and each topic once. */
export const OP_CASES: readonly OpCase[] = [
  ...[...REQUESTS.values()].flatMap(({ name, op, isCommand }): readonly OpCase[] => {
    const { group, action } = partsOf(name);
    const params = isCommand ? paramsOf(name) : {};
    if (op !== undefined) return [{ op, data: { ...params, ...OP_DATA[op] }, needed: neededByOp(op) }];
    return isCommand ? [{ op: group, data: { action, ...params }, needed: neededByOp(group, action) }] : [];
  }),
  ...TOPICS.filter((topic) => topic !== 'events').map((topic) => ({
    op: 'get',
    data: { topics: [topic] },
    needed: neededByOp('get', topic),
  })),
];

/** The scope of a topic that is subscribed to. */
export const neededByTopic = (topic: string): Needed => neededByOp('get', topic);

/** Without a key, and with keys that open nothing. */
export const BAD_KEYS: readonly Readonly<Record<string, string>>[] = [{}, bearer('unknown'), bearer('old')];
