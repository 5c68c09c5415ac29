/**
 * Every route of a hub for every scope, without a key and with keys that are wrong: for a machine that the hub connects to, one
 * that dials in, and one whose key for the hub does not allow what the client may do.
 */
import t, { type Test } from 'tap';
import { SCOPES, type Scope } from '#src/scopes.js';
import { ask, valuesOf } from '../helpers/clients/http.ts';
import { bearer, keyOf, keyWith, may } from '../helpers/keys.ts';
import { Many } from '../helpers/many.ts';
import { startCommanded } from './commanded.ts';
import { CLOSED, PAST, testBothWays } from './keys-setup.ts';
import { BAD_KEYS, type RouteCase, routeCases } from './scope-cases.ts';
import { isUp, type StartedHub, startHub } from './setup.ts';

t.setTimeout(280_000);

const send = async (
  hub: StartedHub,
  { method, target, body }: RouteCase,
  headers: Readonly<Record<string, string>>,
) =>
  await ask(hub.port, target, {
    method,
    headers: { ...headers, ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}) },
    ...(body === undefined ? {} : { body }),
  });

/** Judges the answer to a client that has `held`, where it is asked for. */
async function judge(many: Many, hub: StartedHub, each: RouteCase, client: string, held: readonly Scope[]) {
  const answer = await send(hub, each, bearer(client));
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

/** Sends each request with each key to the machine `id` of a hub that knows the keys. */
async function judgeClients(t: Test, hub: StartedHub, id: string): Promise<void> {
  const many = new Many(t);
  const cases = routeCases(id);
  t.strictSame(
    [...new Set(cases.map(({ needed }) => needed))].filter((each) => !SCOPES.includes(each as Scope)).sort(),
    ['any', 'none'],
    'every need is a scope, or one of these',
  );
  for (const each of cases) {
    for (const scope of SCOPES) await judge(many, hub, each, scope, [scope]);
    for (const headers of BAD_KEYS) {
      const { status } = await send(hub, each, headers);
      many.equal(
        status === 401,
        each.needed !== 'none',
        `${JSON.stringify(headers)} ${each.name}: ${status}`,
      );
    }
  }
  t.ok(many.count > 900, `${many.count} assertions of ${cases.length} requests`);
}

testBothWays(t, '[10.keys-hub] each request for each key', judgeClients);

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
      if (each.isForwarded) await judge(many, hub, each, 'admin', held);
  t.ok(many.count > 400, `${many.count} assertions`);
});
