/** Keys with scopes at a hub: every route for every scope, the rules of `hub.commands`, and the trail at the machine. */
import t from 'tap';
import { describeDigest } from '#src/access/key.js';
import { SCOPES, type Scope } from '#src/scopes.js';
import { ask, valuesOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import type { ConfigPart } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { startCommanded } from './commanded.ts';
import { isUp, startHub } from './setup.ts';

/** As docs/keys.md has it, for one machine of a hub and for all. */
const NEEDED: Readonly<Record<string, Scope>> = {
  'GET /api/hosts': 'read',
  'GET /api/hosts/a/usage': 'read',
  'GET /api/hosts/a/system': 'read',
  'GET /api/hosts/a/pw': 'read',
  'GET /api/hosts/a/media/status': 'read',
  'GET /api/hosts/a/history': 'read',
  'GET /api/hosts/a/history/processes?at=-1': 'processes',
  'GET /api/hosts/a/processes': 'processes',
  'GET /api/hosts/a/processes/init': 'processes',
  'GET /metrics': 'metrics',
  'GET /api/keys': 'admin',
  'POST /api/hosts/a/media/control': 'media',
  'POST /api/hosts/a/pw/sleep': 'power.sleep',
  'POST /api/hosts/a/pw/shutdown': 'power.shutdown',
  'POST /api/hosts/a/pw/cancel': 'power.cancel',
  'POST /api/hosts/a/wake': 'wake',
  'POST /api/hosts/a/processes/kill': 'processes.control',
  'POST /api/hosts/a/processes/launch': 'processes.control',
};

const may = (held: Scope, needed: Scope) =>
  held === needed || held === 'admin' || (held === 'power' && needed.startsWith('power.'));

const keyOf = (name: string) => `${name}-`.padEnd(43, '0');
const bearer = (name: string) => ({ Authorization: `Bearer ${keyOf(name)}` });
const keyWith = (name: string, ...scopes: readonly Scope[]) => ({
  digest: describeDigest(keyOf(name)),
  scopes,
});

t.test('[10.keys-hub] each route of a hub for each scope', async (t) => {
  const { service } = await startCommanded(t);
  const keys = Object.fromEntries(SCOPES.map((scope) => [scope.replace('.', '-'), keyWith(scope, scope)]));
  const hub = await startHub(t, { a: { url: service.baseUrl } });
  await hub.host('a', isUp);
  hub.reconfigure({ a: { url: service.baseUrl } }, { auth: { enabled: true, keys } });
  for (const [request, needed] of Object.entries(NEEDED))
    for (const scope of SCOPES) {
      const [method = '', target = ''] = request.split(' ');
      const { status, headers } = await ask(hub.port, target, {
        method,
        headers: { ...bearer(scope), ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}) },
        ...(method === 'POST' ? { body: '{}' } : {}),
      });
      const expected = may(scope, needed) ? [] : [needed];
      t.strictSame(valuesOf({ headers }, 'x-required-scope'), expected, `${scope}: ${request}`);
      if (expected.length > 0) t.equal(status, 403, `${scope}: ${request}`);
    }
});

t.test(
  '[10.keys-hub] a command needs the scope and a rule, and the machine writes the name of the key',
  async (t) => {
    const commanded = await startCommanded(t);
    const agents = { a: { url: commanded.service.baseUrl } };
    const rule = { commands: ['media.*', 'power.*'], keys: ['phone'], labels: {} };
    const config: ConfigPart = {
      auth: {
        enabled: true,
        keys: { phone: keyWith('phone', 'read', 'media'), tv: keyWith('tv', 'read', 'media') },
      },
      hub: { commands: { phone: rule } },
    };
    const hub = await startHub(t, agents);
    await hub.host('a', isUp);
    hub.reconfigure(agents, config);
    const refusalOf = async (name: string, target: string, body: string) => {
      const answer = await ask(hub.port, target, {
        method: 'POST',
        headers: { ...bearer(name), 'Content-Type': 'application/json' },
        body,
      });
      return [answer.status, ...valuesOf(answer, 'x-error-code')];
    };
    const pause = ['/api/hosts/a/media/control', '{"action":"pause"}'] as const;
    t.strictSame(await refusalOf('tv', ...pause), [403, 'command_not_allowed']);
    t.strictSame(await refusalOf('phone', '/api/hosts/a/pw/lock', ''), [403, 'scope_required']);
    t.strictSame(commanded.acts(), []);
    t.strictSame(await refusalOf('phone', ...pause), [200]);
    t.strictSame(commanded.acts(), ['pause undefined']);
    await until(() => commanded.audit().some((line) => /media: pause done .*key=phone/.test(line)));
  },
);

t.test('[10.keys-uses] a hub notes the uses of its own keys', async (t) => {
  const { service } = await startCommanded(t);
  const agents = { a: { url: service.baseUrl } };
  const hub = await startHub(t, agents);
  await hub.host('a', isUp);
  const keys = { tv: keyWith('tv', 'read'), admin: keyWith('admin', 'admin') };
  hub.reconfigure(agents, { auth: { enabled: true, keys } });
  const useOfTv = async () => {
    const { body } = await ask(hub.port, '/api/keys', { headers: bearer('admin') });
    const list = JSON.parse(body.toString()) as {
      keys: readonly { name: string; last_use: { address: string } | null; open: number }[];
    };
    const { last_use: last = null, open } = list.keys.find(({ name }) => name === 'tv') ?? { open: -1 };
    return [last?.address, open];
  };
  t.strictSame(await useOfTv(), [undefined, 0]);
  await ask(hub.port, '/api/hosts/a/usage', { headers: bearer('tv') });
  t.strictSame(await useOfTv(), ['127.0.0.1', 0]);
  const streams = [
    await hub.open('/api/hosts/a/stream', bearer('tv')),
    await hub.open('/api/fleet/stream', bearer('tv')),
  ];
  const socket = await SocketClient.open(hub.port, { headers: bearer('tv'), from: '127.0.0.6' });
  t.strictSame(await useOfTv(), ['127.0.0.6', 3]);
  socket.cut();
  for (const stream of streams) stream.close();
  await until(async () => (await useOfTv())[1] === 0);
});
