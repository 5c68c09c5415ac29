/** Waking machines over HTTP and WebSocket; packets go to the loopback of this machine. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import type { Host } from '#src/host/host.js';
import type { WakeOnLan } from '#src/host/wake.js';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';

const MAC = '02:00:5e:10:ab:cd';
const MAGIC = `ffffffffffff${'02005e10abcd'.repeat(16)}`;
const ON = { enable_wake: true };

/** A machine that sleeps at this address. */
async function startSleeper(t: Test) {
  const sleeper = createSocket('udp4');
  sleeper.bind(0, '127.0.0.1');
  await once(sleeper, 'listening');
  t.teardown(() => sleeper.close());
  const received: string[] = [];
  sleeper.on('message', (bytes) => received.push(bytes.toString('hex')));
  const { port } = sleeper.address();
  const takeThree = async () => {
    while (received.length < 3) await once(sleeper, 'message');
    return received.splice(0);
  };
  return { hosts: { nas: { mac: MAC, broadcast: '127.0.0.1', port } }, port, takeThree };
}

t.test('[3.wake] POST /api/wake sends three packets and answers where they went', async (t) => {
  const { hosts, port, takeThree } = await startSleeper(t);
  const service = await serveHere(t, fixtureHost(), { features: ON, wake: { hosts } });
  const post = (body: unknown) =>
    ask(service.port, '/api/wake', { method: 'POST', body: JSON.stringify(body) });
  const answer = await post({ host: 'nas' });
  t.equal(answer.status, 200);
  t.strictSame(jsonOf(answer), {
    success: true,
    action: 'wake',
    message: 'Sent packets for nas to 127.0.0.1.',
    final: true,
    name: 'nas',
    mac: MAC,
    targets: [{ interface: null, address: '127.0.0.1', port, packets: 3, error: null }],
  });
  t.strictSame(await takeThree(), [MAGIC, MAGIC, MAGIC]);
  t.match(jsonOf(await post({ host: 'tv' })), { code: 'not_found', details: { allowed: ['nas'] } });
  t.equal((await ask(service.port, '/api/wake')).status, 405);
  t.match(jsonOf(await ask(service.port, '/api/system?detail=1')), {
    capabilities: { wake: { enabled: true, supported: true, reason: null, hosts: ['nas'] } },
  });
});

t.test('[3.wake-socket] the op wake: stages with an id, one answer without', async (t) => {
  const { hosts, port, takeThree } = await startSleeper(t);
  const service = await serveHere(t, fixtureHost(), { features: ON, wake: { hosts } });
  const client = await SocketClient.openIn(t, service.port);
  const answers = await client.askToEnd('wake', { host: 'nas' }, 1);
  t.strictSame(
    answers.map(({ type, data }) => [type, data['stage']]),
    ['accepted', 'running', 'done'].map((stage) => ['wake_feedback', stage]),
  );
  t.match(answers.at(-1)?.data, {
    success: true,
    name: 'nas',
    mac: MAC,
    targets: [{ address: '127.0.0.1', port, packets: 3 }],
  });
  await takeThree();
  client.say('wake', { host: 'nas' });
  t.match((await client.take('wake_feedback')).data, { success: true, final: true, name: 'nas' });
});

/** What /api/system?detail=1 shows of the first interface, where the cards are read so. */
async function shownOf(t: Test, readWakeOnLan: Host['readWakeOnLan']) {
  const service = await serveHere(t, { ...fixtureHost(), readWakeOnLan });
  const answer = jsonOf(await ask(service.port, '/api/system?detail=1'));
  // The types are what the test is about.
  const { interfaces } = answer as { readonly interfaces: readonly Readonly<Record<string, unknown>>[] };
  const shown = interfaces.find(({ name }) => name === 'eth0');
  return [shown?.['wake_on_lan'], shown?.['wake_on_lan_reason']];
}

t.test('[3.wake-on-lan] each interface has wake_on_lan, or the reason why not', async (t) => {
  const card: WakeOnLan = {
    name: 'eth0',
    isEnabled: true,
    supported: ['phy', 'magic'],
    armed: ['magic'],
    failure: null,
  };
  t.strictSame(await shownOf(t, async () => [card]), [
    { enabled: true, supported: ['phy', 'magic'], armed: ['magic'] },
    null,
  ]);
  const asUser = { ...card, supported: null, armed: null, failure: 'needs a right' };
  t.strictSame(await shownOf(t, async () => [asUser]), [
    { enabled: true, supported: null, armed: null },
    'needs a right',
  ]);
  t.strictSame(await shownOf(t, async () => [{ ...asUser, isEnabled: null }]), [null, 'needs a right']);
  t.strictSame(await shownOf(t, async () => []), [
    null,
    'it is not a network card: it has no hardware of its own',
  ]);
  const refusal = Object.assign(new Error('secret'), { code: 'ENOTSUP' });
  t.strictSame(await shownOf(t, () => Promise.reject(refusal)), [null, 'not available on this system']);
  t.strictSame(await shownOf(t, () => Promise.reject(new Error('secret'))), [null, 'cannot be read']);
});
