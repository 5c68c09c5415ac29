/** A machine answers a hub only what the key of its connection allows, by the row of each request. */
import t, { type Test } from 'tap';
import { REQUESTS } from '#src/machine/requests.js';
import { SCOPES, type Scope } from '#src/scopes.js';
import { ask, valuesOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { bearer, keyOf, keyWith, may } from '../helpers/keys.ts';
import { Many } from '../helpers/many.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { startCommanded } from '../hub/commanded.ts';
import { PlayedAgent, refused } from '../hub/played-agent.ts';
import { isUp, startHub } from '../hub/setup.ts';
import { ConnectingHub } from './played-hub.ts';

t.setTimeout(280_000);

/** Every hub needs `read`. */
const withRead = (scope: Scope): readonly Scope[] => (scope === 'read' ? ['read'] : ['read', scope]);
const nameOf = (scope: string) => scope.replace('.', '-');

const CLOSED: ConfigPart = {
  auth: {
    enabled: true,
    keys: Object.fromEntries(
      SCOPES.flatMap((scope) => [
        [nameOf(scope), keyWith(scope, ...withRead(scope))],
        [`only-${nameOf(scope)}`, keyWith(`only ${scope}`, scope)],
      ]),
    ),
  },
};

/** By docs/keys.md; a name that this service does not know needs what its group needs, or everything. */
function neededBy(what: string): Scope {
  const [group, action] = what.split('.');
  if (group === 'media' && action !== undefined) return 'media';
  if (what === 'power.nothing' || group === 'nothing') return 'admin';
  if (group === 'power' && action !== undefined) return what as Scope; // As the page lists them.
  if (group === 'wake') return 'wake';
  if (group === 'process' && action !== undefined) return 'processes.control';
  return group?.startsWith('process') === true ? 'processes' : 'read';
}

const connect = async (t: Test, port: number, key: string) => {
  const hub = new ConnectingHub(t, port, { headers: bearer(key) });
  const status = await hub.next('status');
  const { clock } = (await hub.ask('clock', {})) as unknown as { readonly clock: number };
  return { hub, status, fresh: { run: status['run'], deadline: clock + 20_000 } };
};

t.test('[10.keys-agent] each request of the table for each scope of the key of a hub', async (t) => {
  const machine = await startCommanded(t, { ...CLOSED, history: { minutes: 60 } });
  const many = new Many(t);
  const names = [...REQUESTS.keys(), 'media.nothing', 'power.nothing', 'nothing.at_all'];
  for (const scope of SCOPES) {
    const held = withRead(scope);
    const { hub, status, fresh } = await connect(t, machine.service.port, scope);
    many.strictSame(status['scopes'], scope === 'admin' ? undefined : held, `the status for ${scope}`);
    for (const what of names) {
      // A request that is let through is not understood, or does no harm.
      const params = what.startsWith('power.') ? { delay: -1 } : {};
      const { code, details, stage } = await hub.ask(what, params, fresh);
      const needed = neededBy(what);
      if (may(held, needed)) many.ok(code !== 'scope_required', `${scope}: ${what}`);
      else
        many.strictSame(
          [stage, code, details],
          ['refused', 'scope_required', { scope: needed }],
          `${scope}: ${what}`,
        );
    }
    hub.socket.terminate();
  }
  t.ok(many.count > 400, `${many.count} assertions`);
});

t.test('[10.keys-agent] what is refused is not done, and the audit trail has both keys', async (t) => {
  const machine = await startCommanded(t, CLOSED);
  const { hub, fresh } = await connect(t, machine.service.port, 'media');
  t.match(await hub.ask('process.kill', { pid: 200 }, fresh), {
    code: 'scope_required',
    message: 'The key of the hub at this machine needs the scope processes.control.',
  });
  t.match(await hub.ask('media.pause', {}, fresh), { stage: 'done' });
  t.strictSame(machine.acts(), ['pause undefined']);
  t.match(
    machine.audit(),
    [/media: pause done address=192\.0\.2\.1 keyed=true hub_key=media hub=h key=phone/],
    'the key of the hub at this machine, and that of its client at the hub',
  );
  t.match(machine.service.stderr(), /hub: a hub has connected address=127\.0\.0\.1 key=media/);
});

t.test('[10.keys-agent] without the scope read a hub is not let in, and shows why', async (t) => {
  const { service } = await startCommanded(t, CLOSED);
  for (const scope of SCOPES.filter((each) => !may([each], 'read'))) {
    const hub = new ConnectingHub(t, service.port, { headers: bearer(`only ${scope}`) });
    t.equal(await hub.refused(), 403, scope);
    t.match(hub.headers, { 'x-error-code': 'scope_required', 'x-required-scope': 'read' });
  }
  const key = { path: 'k', secret: keyOf('only media') };
  const hub = await startHub(t, { a: { url: service.baseUrl, key_file: key } });
  const reason = 'this hub needs a key with the scope read (403)';
  t.match(await hub.host('a', ({ state }) => state === 'refused'), { reason });
  t.ok(hub.log.some((line) => line.includes(`host a is refused: ${reason}`)));
});

t.test(
  '[10.keys-revoked] a hub is left when its key is removed, changed, limited or has expired',
  async (t) => {
    const service = await serveHere(t, fixtureHost(), CLOSED);
    const { media, ...others } = CLOSED.auth?.keys ?? {};
    const reconfigure = (keys: object) =>
      service.reconfigure({ auth: { enabled: true, keys } } as ConfigPart);
    const changes: Readonly<Record<string, object>> = {
      removed: others,
      changed: { ...others, media: keyWith('another', 'read', 'media') },
      limited: { ...others, media: { ...media, scopes: ['read'] } },
      expired: { ...others, media: { ...media, expires: '2020-01-01' } },
      'of another address': { ...others, media: { ...media, addresses: ['192.0.2.1'] } },
    };
    const { hub: other } = await connect(t, service.port, 'wake');
    for (const [name, keys] of Object.entries(changes)) {
      reconfigure({ ...others, media });
      const { hub } = await connect(t, service.port, 'media');
      reconfigure(keys);
      t.match(await hub.end(), { code: 1008, reason: 'this machine no longer accepts this hub' }, name);
    }
    t.equal(other.closed, undefined, 'a hub with another key stays');
    reconfigure({ ...others, media: { ...media, scopes: ['read'] } });
    const { status } = await connect(t, service.port, 'media');
    t.strictSame(status['scopes'], ['read'], 'it comes back with what is left');
  },
);

t.test('[10.keys-agent] a hub passes on the scope that it lacks, and nothing else of the text', async (t) => {
  let scope: unknown = 'media';
  const agent = await PlayedAgent.start(t, 0, () => refused('scope_required', { scope }));
  const hub = await startHub(
    t,
    { a: { url: agent.url } },
    { hub: { commands: { all: { commands: ['*'], labels: {} } } } },
  );
  await hub.host('a', isUp);
  const lock = async () => {
    const answer = await ask(hub.port, '/api/hosts/a/pw/lock', { method: 'POST' });
    return [answer.status, valuesOf(answer, 'x-error-code'), valuesOf(answer, 'x-required-scope')];
  };
  t.strictSame(await lock(), [403, ['scope_required'], ['media']]);
  for (scope of ['x\r\nSet-Cookie: a=b', 'toString', 5, null, undefined])
    t.strictSame(await lock(), [403, ['scope_required'], []], JSON.stringify(scope));
  agent.greeting = [
    `status\n${JSON.stringify({ state: 'online', run: 'run1', name: 'played', scopes: ['read', 'x\n', 5, 'read'] })}`,
  ];
  agent.cut();
  const row = await until(async () => {
    const [found] = await hub.hosts();
    return found?.scopes === undefined ? undefined : found;
  });
  t.strictSame(row.scopes, ['read'], 'the names that it knows');
});
