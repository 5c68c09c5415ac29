/** Events of watch rules for sockets that are full: they are lost there, and nothing is kept for them. */
import type { Test } from 'tap';
import t from 'tap';
import type { Exchange, Socket, SocketEvents } from '#src/http/engine.js';
import { FAKE_EVENT } from '../helpers/fakes/history.ts';
import { callerAt } from '../helpers/fakes/sender.ts';
import { serveSockets } from '../helpers/service/socket-server.ts';

class FakeSocket {
  isOpen = true;
  isFull = false;
  readonly sent: string[] = [];
  send(text: string): void {
    this.sent.push(text);
  }
  readonly join = () => undefined;
  readonly leave = () => undefined;
  readonly end = () => undefined;
}

async function openSocket(t: Test) {
  const server = await serveSockets(t);
  const socket = new FakeSocket();
  let events: SocketEvents | undefined;
  const exchange = {
    startSocket: (given: SocketEvents) => {
      events = given;
      return socket as unknown as Socket; // The hub uses no other method here.
    },
  };
  server.open(exchange as unknown as Exchange, callerAt('127.0.0.1')); // As above.
  const say = (op: string, data: object) =>
    events?.onMessage(Buffer.from(JSON.stringify({ op, data })), false);
  t.teardown(() => events?.onClosed());
  const eventsSent = () => socket.sent.filter((text) => text.startsWith('{"type":"event"')).length;
  return { ...server, socket, say, eventsSent, drain: () => events?.onDrained() };
}

t.test('[7.events-full] a full socket misses an event, and gets the next one', async (t) => {
  const { history, socket, say, eventsSent, drain } = await openSocket(t);
  say('subscribe', { topics: ['events'] });
  history.notify(FAKE_EVENT);
  t.equal(eventsSent(), 1);
  socket.isFull = true;
  history.notify(FAKE_EVENT);
  socket.isFull = false;
  drain();
  t.equal(eventsSent(), 1, 'not kept for later');
  history.notify(FAKE_EVENT);
  t.equal(eventsSent(), 2);
});
