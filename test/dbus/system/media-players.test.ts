/** Players on a bus: what real ones report, how they take commands, and what sockets are pushed. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { coverPicture } from '../../browser/cover-picture.ts';
import { SocketClient } from '../../helpers/clients/socket.ts';
import { GOOD, PLAYING, startMediaRig } from '../../helpers/dbus/media-rig.ts';
import { metadata, track } from '../../helpers/dbus/player.ts';
import { variant } from '../../helpers/dbus/wire.ts';

const skip = !existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus';
const microseconds = (seconds: number) => variant('x', BigInt(Math.round(seconds * 1e6)));
const JPEG = Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(9004, 7)]);

t.setTimeout(280_000);

t.test('[6.art-address] an address is whole or null, and its picture is served', { skip }, async (t) => {
  const rig = await startMediaRig(t);
  const player = await rig.player('mpv', { PlaybackStatus: PLAYING });
  let shown = 0;
  const show = async (artUrl: string) => {
    const title = `track ${++shown}`;
    player.change({ Metadata: track(title, { 'mpris:artUrl': variant('s', artUrl) }) });
    const detail = await rig.service.until((now) => now.title === title);
    const answer = await fetch(`${rig.service.process.baseUrl}/api/media/art`);
    return { detail, answer, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const embedded = `data:image/jpeg;base64,${JPEG.toString('base64')}`;
  const long = Buffer.concat([JPEG, Buffer.alloc(500_000, 9)]);
  for (const [what, address, bytes, reported] of [
    ['of 12,041 characters', embedded, JPEG, embedded],
    ['of 680,041 characters', `data:image/jpeg;base64,${long.toString('base64')}`, long, null],
  ] as const) {
    const { detail, answer, bytes: served } = await show(address);
    t.equal(detail.art_url, reported, what);
    t.equal(detail.has_art, true);
    t.equal(answer.headers.get('content-type'), 'image/jpeg');
    t.ok(served.equals(bytes), `${served.length} bytes`);
  }
  const signed = `https://cdn.example/${'a'.repeat(16_364)}`;
  t.equal((await show(signed)).detail.art_url, signed, 'a signed address of 16 KiB');
  const longer = await show(`${signed}b`);
  t.match(longer.detail, { art_url: null, has_art: false }, 'and a byte more');
  t.equal(longer.answer.status, 404);
  // The byte that does not fit is in the middle of a character.
  t.equal((await show(`${signed.slice(0, -2)}第`)).detail.art_url, null);
  const picture = coverPicture();
  for (const name of ['a #1.png', 'why?.png', '100%.png', '50%20off.png']) {
    const file = path.join(rig.bus.folder, name);
    writeFileSync(file, picture);
    for (const address of [file, `file://${file}`]) {
      const { answer, bytes } = await show(address);
      t.equal(answer.status, 200, address);
      t.ok(bytes.equals(picture));
    }
  }
});

t.test('[6.title] the text for a track without title and artist', { skip }, async (t) => {
  const rig = await startMediaRig(t);
  const player = await rig.player('vlc', {
    PlaybackStatus: PLAYING,
    Metadata: metadata({
      'xesam:url': variant('s', 'file:///music/01%20Gr%C3%BC%C3%9Fe.flac'),
      'xesam:albumArtist': variant('as', ['Various', 'Others']),
    }),
  });
  t.strictSame(await rig.service.status(), {
    status: 'active',
    title: '01 Grüße',
    artist: 'Various, Others',
  });
  player.change({
    Metadata: track('T', {
      'xesam:albumArtist': variant('as', ['Various']),
      'xesam:artist': variant('as', ['A']),
      'xesam:url': variant('s', 'file:///x.flac'),
    }),
  });
  t.match(await rig.service.until(({ title }) => title === 'T'), { artist: 'A' });
});

t.test('[6.effect] a position that we have changed is read again', { skip }, async (t) => {
  const rig = await startMediaRig(t);
  const length = { 'mpris:length': variant('x', 200_000_000n) };
  const player = await rig.player('audacious', {
    PlaybackStatus: variant('s', 'Paused'),
    Metadata: track('long', length),
    Position: microseconds(10),
  });
  await rig.service.until(({ position }) => position === 10);
  // Like Audacious it answers first and moves 100 ms later, without Seeked.
  player.answer = (message) => {
    player.respond(message);
    const to = { SetPosition: 57, Previous: 0 }[message.member];
    const move = () => {
      player.properties = { ...player.properties, Position: microseconds(to ?? 0) };
    };
    if (to !== undefined) setTimeout(move, 100);
  };
  t.equal((await rig.service.control('seek', { value: 57 })).delivered, 'true');
  t.equal((await rig.service.until(({ position }) => position !== 10)).position, 57);
  t.equal((await rig.service.control('prev')).delivered, 'true');
  t.equal((await rig.service.until(({ position }) => position !== 57)).position, 0, 'the same track anew');
});

t.test('[6.play-once] [6.kept-volume] commands that change nothing', { skip }, async (t) => {
  const rig = await startMediaRig(t);
  const player = await rig.player('chromium.instance13325', {
    PlaybackStatus: PLAYING,
    Metadata: track('video'),
    Volume: variant('d', 1),
  });
  await rig.service.until(({ title }) => title === 'video');
  const sent = () => player.calls.splice(0).map(({ member }) => member);
  t.match(await rig.service.control('play'), { status: 200, delivered: 'true' });
  t.strictSame(sent(), []);
  player.takesSet = false;
  for (const [action, value] of [['set_volume', 40], ['mute'], ['volume_down']] as const)
    t.match(
      await rig.service.control(action, value === undefined ? {} : { value }),
      { status: 200, delivered: 'false' },
      action,
    );
  player.takesSet = true;
  t.match(await rig.service.control('set_volume', { value: 40 }), { status: 200, delivered: 'true' });
  t.equal((await rig.service.until(({ volume }) => volume !== 100)).volume, 40);
  // Without a report.
  player.takesSet = false;
  player.answer = (message) => {
    if (message.member === 'Set') player.properties = { ...player.properties, Volume: variant('d', 0.2) };
    player.respond(message);
  };
  t.match(await rig.service.control('set_volume', { value: 20 }), { status: 200, delivered: 'true' });
  t.strictSame(sent(), Array(5).fill('Set'));
});

t.test('[6.player] one program under two names is one player', { skip }, async (t) => {
  const rig = await startMediaRig(t);
  const player = await rig.player('vlc', { PlaybackStatus: PLAYING, Metadata: track('film') });
  await player.peer.requestName('org.mpris.MediaPlayer2.vlc.instance4711');
  const { players } = await rig.service.until(({ title }) => title === 'film');
  t.strictSame(players, ['vlc']);
  for (const name of ['vlc', 'vlc.instance4711'])
    t.match(await rig.service.detail(name), { player: 'vlc', title: 'film' });
  const browser = await rig.player('chromium.instance13325', { PlaybackStatus: PLAYING });
  await rig.service.until((now) => now.players.length === 2);
  t.strictSame((await rig.service.detail()).players, ['chromium', 'vlc']);
  t.match(await rig.service.control('next', { player: 'chromium' }), { status: 200, delivered: 'true' });
  t.equal(browser.calls[0]?.member, 'Next');
  const second = await rig.player('chromium.instance20000', { PlaybackStatus: PLAYING });
  await rig.service.until((now) => now.players.length === 3);
  t.strictSame((await rig.service.detail()).players, [
    'chromium.instance13325',
    'chromium.instance20000',
    'vlc',
  ]);
  second.close();
  await rig.service.until((now) => now.players.length === 2);
  t.strictSame((await rig.service.detail()).players, ['chromium', 'vlc']);
});

t.test(
  "[7.media-update] a player's reports are pushed, and the player is not asked for them",
  { skip },
  async (t) => {
    const rig = await startMediaRig(t);
    const player = await rig.player('good', GOOD);
    const client = await SocketClient.openIn(t, rig.service.process.port);
    client.say('subscribe', { topics: ['media'] }, 1);
    await client.take(({ type, data }) => type === 'media_update' && data['title'] === 'good');
    await sleep(300);
    let asked = 0;
    player.answer = (message) => {
      asked++;
      player.respond(message);
    };
    await sleep(1500);
    t.equal(asked, 0, 'silence on the bus');
    await client.settle();
    const begunMs = performance.now();
    for (let i = 0; i < 40; i++) {
      player.change({ Metadata: track(`t${i}`) });
      await sleep(10);
    }
    await client.take(({ data }) => data['title'] === 't39');
    const updates = client.told.filter(({ data }) => /^t\d+$/.test(String(data['title'])));
    const most = (performance.now() - begunMs) / 50 + 2;
    t.ok(updates.length <= most, `${updates.length} updates of 40 changes: one per 50 ms at most`);
    player.change({ PlaybackStatus: variant('s', 'Stopped') });
    t.match((await client.take(({ data }) => data['status'] === 'idle')).data, { title: '' });
    const answers = await client.askToEnd('media', { action: 'next' }, 'n');
    t.match(answers.at(-1)?.data, { success: true, stage: 'done' });
    t.strictSame(
      player.calls.map(({ member }) => member),
      ['Next'],
    );
    player.close();
    t.match((await client.take(({ data }) => data['status'] === 'stopped')).data, { artist: '' });
  },
);
