/** The wall clock is set past the end of a key, of which no timer knows: nothing that it has open commands any more. */
import t from 'tap';
import { SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { bearer, keyWith } from '../helpers/keys.ts';
import { serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const PLAY = { action: 'play' };

t.test('[10.keys-revoked] each message of a socket is judged by the end of its key', async (t) => {
  const media = new FakeMediaHost();
  media.snapshot = snapshotOf(playerOf('mpv', { playback: 'paused', title: 'A' }));
  const endsAtMs = Date.now() + 3_600_000;
  const phone = { ...keyWith('phone', 'admin'), expires: new Date(endsAtMs).toISOString() };
  const service = await serveHere(
    t,
    { ...fixtureHost(), media },
    {
      features: { enable_media: true },
      auth: { enabled: true, keys: { phone, tv: keyWith('tv', 'admin') } },
    },
  );
  const open = (name: string) => SocketClient.openIn(t, service.port, { headers: bearer(name) });
  const [ended, hub, other] = [await open('phone'), await open('phone'), await open('tv')];
  ended.say('media', PLAY);
  await until(() => media.controls.length === 1);
  t.intercept(Date, 'now', { value: () => endsAtMs + performance.now() });
  ended.say('media', PLAY);
  const via = { client: '192.0.2.1' };
  hub.sayText(JSON.stringify({ op: 'request', id: 1, via, data: { name: 'media.play' } }));
  await ended.closed;
  await hub.closed;
  t.equal(media.controls.length, 1, 'nothing was carried out');
  other.say('media', PLAY);
  await until(() => media.controls.length === 2);
  t.notOk(other.isClosed, 'what other keys have opened stays');
});
