/** Messages to /api/ws that arrive in one write: each takes effect before the next one, on both engines. */
import '../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { ask, jsonOf, RawConnection } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { EVERYTHING_ON } from '../helpers/fakes/power.ts';
import { serveHere } from '../helpers/service/service.ts';
import { UPGRADE } from '../http/socket-attacks.ts';
import { frameBytes, OPCODES, readFrames, type Said } from '../http/socket-frames.ts';

interface Message {
  readonly op: string;
  readonly id: string;
  readonly data?: object;
}

/** The service with one player, and a connection that sends all frames of `messages` in one write. */
async function start(t: Test) {
  const media = new FakeMediaHost();
  media.snapshot = snapshotOf(playerOf('p', { playback: 'playing', title: 'x' }));
  const host = Object.assign(fixtureHost(), { media });
  const service = await serveHere(t, host, { features: EVERYTHING_ON });
  const connection = await RawConnection.openIn(t, service.port);
  connection.write(UPGRADE);
  await connection.readAnswer();
  const sayAtOnce = (...messages: readonly Message[]) =>
    connection.write(
      Buffer.concat(
        messages.map((message) =>
          frameBytes({ opcode: OPCODES.text, payload: Buffer.from(JSON.stringify(message)) }),
        ),
      ),
    );
  /** All messages up to the one that answers `id` and `isLast`. */
  const until = (id: string, isLast: (message: Said['messages'][number]) => boolean = () => true) =>
    connection.until((bytes) => {
      const { messages } = readFrames(bytes);
      return messages.some((message) => message.id === id && isLast(message)) ? messages : undefined;
    });
  return { service, media, sayAtOnce, until };
}

t.test('[7.order] a cancel in the same write as the action that it cancels', async (t) => {
  const { service, sayAtOnce, until } = await start(t);
  const sleep = { op: 'power', id: 'sleep', data: { action: 'sleep', delay: 50 } };
  const cancel = { op: 'power', id: 'cancel', data: { action: 'cancel' } };
  sayAtOnce(sleep, cancel);
  const said = await until('cancel');
  const stages = said
    .filter(({ type }) => type === 'power_feedback')
    .map(({ id, data }) => `${String(id)} ${(data as { readonly stage: string }).stage}`);
  t.strictSame(stages, ['sleep accepted', 'sleep cancelled', 'cancel done']);
  t.match(said.at(-1)?.data, { message: 'Cancelled sleep' });
  t.match(jsonOf(await ask(service.port, '/api/pw')), { pending: null });
});

t.test('[7.order] an end of a subscription in the same write as its beginning', async (t) => {
  const { service, media, sayAtOnce, until } = await start(t);
  const other = await SocketClient.openIn(t, service.port);
  await other.ask('subscribe', { topics: ['media'] }, 1);
  await other.take('media_update');
  sayAtOnce(
    { op: 'subscribe', id: 'begin', data: { topics: ['stats', 'media'] } },
    { op: 'unsubscribe', id: 'end' },
  );
  await until('end');
  media.change(snapshotOf(playerOf('p', { playback: 'playing', title: 'the next one' })));
  await other.take((told) => told.type === 'media_update' && told.text.includes('the next one'));
  sayAtOnce({ op: 'ping', id: 'after' });
  const said = await until('after');
  const subscribed = said.filter(({ type }) => type === 'subscribed');
  t.match(subscribed, [
    { id: 'begin', data: { topics: ['stats', 'media'] } },
    { id: 'end', data: { topics: [] } },
  ]);
  t.notMatch(JSON.stringify(said), 'the next one', 'no update');
});
