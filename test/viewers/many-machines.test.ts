/** One socket of a hub that follows as many machines as it may. */
import t from 'tap';
import { HostLists } from '#src/viewers/fleet/host-lists.js';
import { Broadcasts } from '#src/viewers/socket/broadcasts.js';
import { SocketSession } from '#src/viewers/socket/socket-session.js';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';
import { callerAt } from '../helpers/fakes/sender.ts';
import { idleMachine, unused } from './idle-machine.ts';

const MAX = 1024;

function open() {
  const clock = new FakeClock();
  const machines = new Map(Array.from({ length: MAX + 2 }, (_, i) => [`m${i}`, idleMachine(`m${i}`)]));
  const broadcasts = new Broadcasts({
    clock,
    publisher: { publish: unused },
    tracksMembers: true,
    intervalMs: () => 1000,
    onError: unused,
  });
  const session = new SocketSession(
    {
      owner: { onBroken: unused, onFlood: unused, onClosed: () => undefined },
      find: (id) => machines.get(id),
      fleet: {
        join: unused,
        followTopic: unused,
        lists: new HostLists({ all: [] }, { facts: unused, usage: unused, note: unused }, clock),
      },
      broadcasts,
      gate: { hears: () => true, noteRefusal: () => undefined },
      clock,
      log: { error: unused, audit: unused },
    },
    callerAt('127.0.0.1'),
    undefined,
  );
  let told: readonly { readonly type: string; readonly host?: string; readonly code?: string }[] = [];
  const take = () => {
    const taken = told;
    told = [];
    return taken;
  };
  const socket = {
    isFull: false,
    send(text: string) {
      const { type, host, data } = JSON.parse(text);
      told = [...told, { type, host, code: data.code }];
    },
  };
  session.start(socket as Parameters<SocketSession['start']>[0], '{"data":{}}'); // Nothing else is called.
  const send = async (op: string, hosts: readonly string[]) => {
    await clock.advance(1000);
    session.onMessage(Buffer.from(JSON.stringify({ op, hosts, data: { topics: ['power'] } })), false);
    await settle();
  };
  return { session, machines, send, take };
}

t.test('[I.hub.ws-topics] a socket follows 1,024 machines, whichever they are', async (t) => {
  const { session, machines, send, take } = open();
  const names = [...machines.keys()];
  for (let at = 0; at < MAX; at += 256) await send('subscribe', names.slice(at, at + 256));
  t.equal(take().filter(({ type }) => type === 'subscribed').length, MAX);
  const tries = async (host: string) => {
    await send('subscribe', [host]);
    return take().map(({ type, code }) => code ?? type);
  };
  const refused = ['TOO_MANY_STREAMS'];
  const followed = ['subscribed', 'host', 'power_update'];
  t.strictSame(await tries('m1024'), refused);
  t.strictSame(await tries('m0'), followed, 'one that it follows already');
  for (const [gone, next] of [
    ['m0', 'm1024'],
    ['m7', 'm0'],
    ['m1024', 'm7'],
  ] as const) {
    await send('unsubscribe', [gone]);
    take();
    t.strictSame(await tries(next), followed, `${next} instead of ${gone}`);
    t.strictSame(await tries(gone), refused);
  }
  for (const id of ['m0', 'm7', 'm1024', 'm1023']) session.onCondition(id);
  t.strictSame(
    take().map(({ type, host }) => `${type} ${host}`),
    ['host m0', 'host m7', 'host m1023'],
    'of those that it follows',
  );
  machines.delete('m7');
  session.onCondition('m7');
  t.strictSame(take(), [{ type: 'error', host: 'm7', code: 'NOT_FOUND' }]);
  t.strictSame(await tries('m1025'), followed, 'in the place of the one that is gone');
  session.onClosed();
  t.strictSame(
    names.filter((id) => session.follows(id, -1)),
    [],
  );
});
