/** Planned ends of the machine: sockets are notified, hubs first, and a sleep waits for the latter. */
import t from 'tap';
import { scopesOf } from '#src/scopes.js';
import { SocketClient } from '../helpers/clients/socket.ts';
import { callerAt } from '../helpers/fakes/sender.ts';
import { serveSockets } from '../helpers/service/socket-server.ts';
import { until } from '../helpers/until.ts';

const HUB = { ...callerAt('192.0.2.1', 'hub'), scopes: scopesOf(['hub', 'read']) };
const PANEL = { ...callerAt('192.0.2.2', 'panel'), scopes: scopesOf(['read']) };

t.test(
  '[11.closing] sleep: every socket has the reason and stays; hubs hold the sleep until then',
  async (t) => {
    const held = new Set<object>();
    const rests: boolean[] = [];
    const server = await serveSockets(t, {
      callerOf: (query) => (query === 'hub' ? HUB : PANEL),
      inhibitor: {
        hold: (holder) => void held.add(holder),
        release: (holder) => void held.delete(holder),
        rest: (isResting) => void rests.push(isResting),
      },
    });
    const open = (query: string) => SocketClient.openIn(t, server.port, { path: `/api/ws?${query}` });
    const [hub, panel] = [await open('hub'), await open('panel')];
    t.equal(held.size, 1, 'only hubs');
    server.sockets.announce('sleep');
    server.sockets.announce('sleep');
    for (const client of [hub, panel]) {
      t.strictSame((await client.take('closing')).data, { reason: 'sleep' });
      t.match(await client.ask('ping', {}, 1), { type: 'pong' }, 'the connection stays');
      t.equal(client.told.filter(({ type }) => type === 'closing').length, 1, 'once');
    }
    await until(() => held.size === 0, 'the sleep is allowed');
    const late = await open('hub');
    t.match(await late.take('closing'), { data: { reason: 'sleep' } }, 'who connects now knows it too');
    server.sockets.announce(undefined);
    t.equal(held.size, 2, 'the next sleep waits again');
    hub.cut();
    await until(() => held.size === 1, 'not for one that has gone');
    t.match((await open('panel')).told.at(-1), { type: 'connected' }, 'the machine is awake');
    t.strictSame(rests, [false], 'a sleep waits for brokers, too');
    server.sockets.announce('shutdown');
    t.strictSame((await late.take('closing')).data, { reason: 'shutdown' });
    await until(() => held.size === 0, 'the shutdown is allowed');
    server.sockets.announce(undefined);
    t.strictSame(rests, [false, true, false], 'all that still wait for its end learn of it by the end');
  },
);

t.test('[11.closing] the end of the service has the plan for the machine, or stop', async (t) => {
  for (const [plan, reason] of [
    ['restart', 'restart'],
    [undefined, 'stop'],
  ] as const) {
    const server = await serveSockets(t, { callerOf: () => PANEL });
    const client = await SocketClient.openIn(t, server.port);
    if (plan !== undefined) server.sockets.announce(plan);
    server.sockets.close('the end');
    await client.closed;
    t.strictSame(client.told.at(-1)?.data, { reason });
  }
});
