/** Players as users have them, on a bus: what real ones report and how they take commands. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { coverPicture } from '../../browser/cover-picture.ts';
import { PLAYING, startMediaRig } from '../../helpers/dbus/media-rig.ts';
import { metadata, track } from '../../helpers/dbus/player.ts';
import { variant } from '../../helpers/dbus/wire.ts';

const skip = !existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus';
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

t.test('[6.title] what is shown of a track without title and artist', { skip }, async (t) => {
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
