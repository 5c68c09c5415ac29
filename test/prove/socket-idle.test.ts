/** A minute of silence on a socket: it is pinged, and closed only if the client does not answer. */
import '../helpers/service/dead-buses.ts';
import t from 'tap';
import { RawConnection, requestBytes } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';

t.setTimeout(180_000);

const HEADERS = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

t.test(
  '[7.idle] [7.stalled] a ping after 44 s; one that does not answer is cut 16 s later, another stays',
  async (t) => {
    const service = await serveHere(t, fixtureHost());
    const alive = await SocketClient.openIn(t, service.port);
    let pings = 0;
    alive.ws.on('ping', () => pings++);
    const mute = await RawConnection.openIn(t, service.port);
    const begun = performance.now();
    const seconds = () => (performance.now() - begun) / 1000;
    mute.write(requestBytes('/api/ws', { headers: HEADERS }));
    const PING = Buffer.from([0x89, 0]);
    await mute.until((bytes) => (bytes.includes(PING) ? true : undefined), 60_000);
    const pingedAt = seconds();
    await mute.closed(60_000);
    const cutAt = seconds();
    t.comment(`figure: pinged after ${pingedAt.toFixed(0)} s, cut after ${cutAt.toFixed(0)} s`);
    t.ok(pingedAt > 38 && pingedAt < 52, `pinged after ${pingedAt.toFixed(1)} s`);
    t.ok(cutAt - pingedAt > 10 && cutAt - pingedAt < 25, `cut after ${cutAt.toFixed(1)} s`);
    t.equal((await alive.ask('ping', undefined, 1)).type, 'pong', 'the other is still there');
    t.ok(pings >= 1);
  },
);
