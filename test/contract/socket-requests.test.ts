/** The op `request`: everything that HTTP answers, for the scopes of each key, as hubs ask for it. */
import '../helpers/service/dead-buses.ts';
import t from 'tap';
import { REQUESTS } from '#src/machine/requests.js';
import { SCOPES, type Scope } from '#src/scopes.js';
import { ask, jsonOf, valuesOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { bearer, keyWith, may } from '../helpers/keys.ts';
import { Many } from '../helpers/many.ts';
import { startCommanded } from '../hub/commanded.ts';

t.setTimeout(280_000);

const withRead = (scope: Scope): readonly Scope[] => (scope === 'read' ? ['read'] : ['read', scope]);
const nameOf = (scope: string) => scope.replace('.', '-');

const CLOSED = {
  auth: {
    enabled: true,
    keys: {
      ...Object.fromEntries(SCOPES.map((scope) => [nameOf(scope), keyWith(scope, ...withRead(scope))])),
      desk: keyWith('desk', 'hub', 'read', 'media', 'power'),
    },
  },
  history: { minutes: 60 },
};

/** By docs/keys.md; a name that this service does not know needs what its group needs, or everything. */
function neededBy(name: string): Scope {
  const [group, action] = name.split('.');
  if (group === 'media' && action !== undefined) return 'media';
  if (name === 'power.nothing' || group === 'nothing') return 'admin';
  if (group === 'power' && action !== undefined) return name as Scope; // As the page lists them.
  if (group === 'wake') return 'wake';
  if (group === 'process' && action !== undefined) return 'processes.control';
  return group?.startsWith('process') === true ? 'processes' : 'read';
}

interface Answered {
  readonly body?: unknown;
  readonly error?: { readonly code: string; readonly details?: { readonly scope?: unknown } };
}

/** Messages of one socket: more at a time would be limited by its rate. */
const AT_A_TIME = 30;

t.test('[11.request] each request of the table for each scope', async (t) => {
  const { service } = await startCommanded(t, CLOSED);
  const many = new Many(t);
  const names = [...REQUESTS.keys(), 'media.nothing', 'power.nothing', 'nothing.at_all'];
  for (const scope of SCOPES)
    for (let at = 0; at < names.length; at += AT_A_TIME) {
      const client = await SocketClient.open(service.port, { headers: bearer(scope) });
      for (const name of names.slice(at, at + AT_A_TIME)) {
        // A request that is let through is not understood, or does no harm.
        const params = name.startsWith('power.') ? { delay: -1 } : {};
        const { type, data } = await client.ask('request', { name, params }, name);
        const { error } = data as Answered;
        const needed = neededBy(name);
        many.equal(type, 'answer', name);
        if (may(withRead(scope), needed)) many.ok(error?.code !== 'scope_required', `${scope}: ${name}`);
        else
          many.strictSame(
            [error?.code, error?.details],
            ['scope_required', { scope: needed }],
            `${scope}: ${name}`,
          );
      }
      client.cut();
    }
  t.ok(many.count > 800, `${many.count} assertions`);
});

t.test('[11.request] answers are those of HTTP, with what its headers say', async (t) => {
  const { service } = await startCommanded(t, CLOSED);
  const headers = bearer('desk');
  const client = await SocketClient.openIn(t, service.port, { headers });
  for (const [name, params, path] of [
    ['power', {}, '/api/pw'],
    ['media', { detail: true }, '/api/media/status?detail=1'],
    ['media', { player: 'nobody' }, '/api/media/status?player=nobody'],
    ['art', {}, '/api/media/art'],
    ['history', { step: 0 }, '/api/history?step=0'],
  ] as const) {
    const own = await ask(service.port, path, { headers });
    const { data } = await client.ask('request', { name, params }, path);
    const { code, error: message, ...more } = jsonOf(own) as Readonly<Record<string, unknown>>;
    if (own.status === 200) t.match(data, { body: jsonOf(own) }, path);
    else t.match(data, { error: { code, message, ...more } }, path);
  }
  const { data } = await client.ask('request', { name: 'history', params: { since: -60 } }, 'h');
  const history = await ask(service.port, '/api/history?since=-60', { headers });
  t.equal(typeof data['etag'], typeof valuesOf(history, 'etag')[0], 'its version');
  t.match(await client.ask('request', { name: 'media.pause' }, 'm'), { data: { delivered: 'true' } });
});

t.test('[11.request] a command goes on in steps; what is refused is not done', async (t) => {
  const machine = await startCommanded(t, CLOSED);
  const client = await SocketClient.openIn(t, machine.service.port, { headers: bearer('desk') });
  const via = { client: '192.0.2.1', key: 'phone' };
  const say = (id: string, name: string, params: object = {}) =>
    client.sayText(JSON.stringify({ op: 'request', id, via, data: { name, params, steps: true } }));
  const heard = (id: string) => client.told.filter((told) => told.id === id).map(({ data }) => data);
  say('kill', 'process.kill', { pid: 200 });
  t.match(await client.take(({ id }) => id === 'kill'), { data: { error: { code: 'scope_required' } } });
  say('pause', 'media.pause');
  await client.take(({ id, type }) => id === 'pause' && type === 'answer');
  t.match(heard('pause'), [{ stage: 'begun' }, { body: { status: 'ok' } }]);
  say('lock', 'power.lock');
  await client.take(({ id, data }) => id === 'lock' && data['stage'] === 'done');
  t.match(heard('lock'), [{ stage: 'begun' }, { follows: true }, { stage: 'running' }, { stage: 'done' }]);
  say('later', 'power.shutdown', { delay: 600 });
  await client.take(({ id }) => id === 'later');
  say('cancel', 'power.cancel');
  t.match(await client.take(({ type, id }) => id === 'later' && type === 'step'), {
    data: { stage: 'cancelled' },
  });
  t.strictSame(machine.acts(), ['pause undefined']);
  t.match(
    machine.audit().filter((line) => line.includes('media: pause')),
    [/media: pause done .*address=192\.0\.2\.1 .*hub=desk key=phone/],
  );
});
