/** The terms of a message: deadlines, the clients of hubs, intervals; and what `get` has beside topics. */
import '../helpers/service/dead-buses.ts';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { EVENTS } from '#src/wire/socket-events.js';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { bearer, keyWith } from '../helpers/keys.ts';
import { serveHere } from '../helpers/service/service.ts';

const KEYS = {
  hub: keyWith('hub', 'hub', 'read', 'media'),
  panel: keyWith('panel', 'read', 'media', 'power'),
};

async function start(t: Test) {
  const media = new FakeMediaHost();
  const clock = new FakeClock();
  const host = Object.assign(fixtureHost(), { media });
  const service = await serveHere(
    t,
    host,
    { auth: { enabled: true, keys: KEYS }, stats: { stream_interval_seconds: 1 } },
    { clock },
  );
  const connect = (name: keyof typeof KEYS) =>
    SocketClient.openIn(t, service.port, { headers: bearer(name) });
  /** Sends a message with terms beside its data. */
  const say = (client: SocketClient, message: object) => client.sayText(JSON.stringify(message));
  return { service, media, clock, connect, say };
}

t.test('[11.deadline] an op after its deadline is not carried out, and the trail has it', async (t) => {
  const { service, media, clock, connect, say } = await start(t);
  const client = await connect('panel');
  const { data } = await client.take('connected');
  const bootMs = Number(data['clock']);
  t.equal(bootMs, clock.sinceBoot(), "the machine's clock, which counts sleep");
  media.snapshot = snapshotOf(playerOf('p', { playback: 'playing' }));
  const control = (id: string, deadline: number) => {
    say(client, { op: 'media', id, deadline, data: { action: 'pause' } });
    return client.take((told) => told.id === id && (told.type === 'error' || told.data['final'] === true));
  };
  t.match(await control('early', bootMs + 1000), { type: 'media_feedback', data: { success: true } });
  clock.suspend(60_000);
  t.match(await control('slept', bootMs + 1000), { type: 'error', data: { code: 'LATE' } });
  t.equal(media.controls.length, 1, 'it was not carried out');
  t.match(service.stderr(), /media: pause refused: late.*key=panel/);
  say(client, { op: 'get', id: 'g', deadline: bootMs, data: { topics: ['system'] } });
  t.match(await client.take(({ id }) => id === 'g'), { data: { code: 'LATE' } }, 'questions too');
  const pong = await client.ask('ping', {}, 'p');
  t.equal(pong.data['clock'], clock.sinceBoot());
  for (const deadline of [-1, 'soon', null]) {
    say(client, { op: 'ping', id: 'bad', deadline });
    t.match(await client.take(({ id }) => id === 'bad'), {
      data: { code: 'INVALID_DATA', message: /deadline/ },
    });
  }
});

t.test('[11.deadline] an op with a deadline that comes twice is carried out once', async (t) => {
  const { media, connect, say } = await start(t);
  const client = await connect('panel');
  const { data } = await client.take('connected');
  media.snapshot = snapshotOf(playerOf('p', { playback: 'playing' }));
  const op = { op: 'media', id: 1, deadline: Number(data['clock']) + 1000, data: { action: 'pause' } };
  for (const more of [{}, {}, { id: 2 }, {}]) say(client, { ...op, ...more });
  await client.ask('ping', {}, 'p');
  await client.take(({ id, data: told }) => id === 2 && told['final'] === true);
  t.equal(media.controls.length, 2, 'once for each id');
  const without = { op: 'media', id: 1, data: { action: 'pause' } };
  for (let count = 0; count < 2; count++) {
    say(client, without);
    await client.take(({ id, data: told }) => id === 1 && told['final'] === true);
  }
  t.ok(media.controls.length > 2, 'others may use an id again');
});

t.test(
  '[11.via] a hub names its client for the trail; other keys may not, and its scopes limit it',
  async (t) => {
    const { service, media, connect, say } = await start(t);
    media.snapshot = snapshotOf(playerOf('p', { playback: 'playing' }));
    const via = { client: '192.0.2.7', key: 'alex' };
    const [hub, panel] = [await connect('hub'), await connect('panel')];
    say(hub, { op: 'media', id: 1, via, data: { action: 'pause' } });
    await hub.take(({ type, data }) => type === 'media_feedback' && data['final'] === true);
    t.match(service.stderr(), /media: pause done .*192\.0\.2\.7.*hub=hub key=alex/);
    say(hub, { op: 'power', id: 2, via, data: { action: 'sleep' } });
    t.match(await hub.take(({ id }) => id === 2), {
      data: { code: 'FORBIDDEN', details: { scope: 'power.sleep' } },
    });
    say(panel, { op: 'media', id: 3, via, data: { action: 'play' } });
    t.match(await panel.take(({ id }) => id === 3), {
      data: { code: 'FORBIDDEN', details: { scope: 'hub' } },
    });
    t.equal(media.controls.length, 1);
    for (const wrong of [{}, { client: 'somebody' }, { client: '::1', key: 'a b' }, 'hub']) {
      say(hub, { op: 'ping', id: 4, via: wrong });
      t.match(await hub.take(({ id }) => id === 4), { data: { code: 'INVALID_DATA', message: /via/ } });
    }
  },
);

t.test('[11.interval] at most one sample in interval_seconds, which `add` keeps', async (t) => {
  const { clock, connect } = await start(t);
  const client = await connect('panel');
  const samplesIn = async (seconds: number) => {
    const before = client.told.length;
    for (let i = 0; i < seconds; i++) {
      await client.ask('ping', {}, `tick ${i}`);
      await clock.advance(1000);
    }
    await client.ask('ping', {}, 'end');
    return client.told.slice(before).filter(({ type }) => type === 'system_stats').length;
  };
  const subscribe = async (data: object) => {
    await client.ask('subscribe', { topics: ['cpu'], ...data }, 'subscribe');
    // The sample to begin with, and the next one.
    await samplesIn(3);
  };
  await subscribe({ interval_seconds: 3 });
  t.equal(await samplesIn(9), 3);
  await subscribe({ topics: ['memory'], mode: 'add' });
  t.equal(await samplesIn(9), 3, 'added topics keep it');
  await subscribe({});
  t.equal(await samplesIn(5), 5, 'without it every sample');
  const wrong = await client.ask('subscribe', { topics: ['cpu'], interval_seconds: -1 }, 'x');
  t.match(wrong.data, { code: 'INVALID_DATA', message: /interval_seconds/ });
});

t.test('[11.get] system and art, as HTTP has them', async (t) => {
  const { service, media, clock, connect } = await start(t);
  const client = await connect('panel');
  const headers = bearer('panel');
  const asked = client.ask('get', { topics: ['system'] }, 's');
  const known = ask(service.port, '/api/system', { headers });
  await client.ask('ping', {}, 'p');
  await clock.advance(1000);
  t.strictSame((await asked).data, jsonOf(await known));
  t.match(await client.ask('get', { topics: ['art'] }, 'none'), {
    type: 'media_feedback',
    data: { action: 'art', code: 'NOT_FOUND' },
  });
  const file = path.join(t.testdir(), 'cover.png');
  const picture = Buffer.from('89504e470d0a1a0a00', 'hex');
  writeFileSync(file, picture);
  media.snapshot = snapshotOf(playerOf('p', { playback: 'playing', artUrl: `file://${file}` }));
  const art = await client.ask('get', { topics: ['art'] }, 'art');
  t.strictSame(art.data, { type: 'image/png', base64: picture.toString('base64') });
  t.ok(v.is(EVENTS.art, art.data));
  t.match(await client.ask('get', { topics: ['toString'] }, 'odd'), { data: { code: 'INVALID_DATA' } });
});
