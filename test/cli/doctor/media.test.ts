/** What `hostwire doctor` says of players and media keys. */
import t from 'tap';
import { examineMedia, judgeMedia } from '#src/cli/doctor/media.js';
import { FakeMediaHost, playerOf, snapshotOf } from '../../helpers/fakes/media.ts';

const lines = (...given: Parameters<typeof judgeMedia>) =>
  judgeMedia(...given).map(
    ({ section, state, source, reason }) => `${section} ${state}: ${state === 'ok' ? source : reason}`,
  );

const NO_BUS = { ...snapshotOf(), absence: 'there is no bus' };
const heard = (text: string) => `the session bus answers: ${text}`;

t.test('[9.doctor-media] bus, players and keys', async (t) => {
  t.strictSame(lines(NO_BUS, 'no device'), ['media missing: there is no bus', 'keys missing: no device']);
  t.strictSame(lines(NO_BUS, null), [
    'media missing: there is no bus',
    'keys ok: media keys are pressed, since no player can be spoken to',
  ]);
  t.strictSame(lines(snapshotOf(), 'no device'), [
    `media ok: ${heard('no player on it now')}`,
    'keys partly: no device',
  ]);
  const players = [
    playerOf('mpv', { playback: 'playing' }),
    playerOf('web', { playback: 'paused', cannot: ['next', 'previous'] }),
  ];
  t.strictSame(lines(snapshotOf(...players), null), [
    `media ok: ${heard("mpv (playing); web (paused, can't next, previous)")}`,
    'keys ok: not needed',
  ]);
  const crowd = { ...snapshotOf(playerOf('mute', { isSilent: true }), ...players.slice(0, 1)), leftOut: 7 };
  t.match(judgeMedia(crowd, null)[0], {
    state: 'partly',
    source: heard('mute (does not answer); mpv (playing) and 7 more'),
    reason: 'a player does not answer',
  });
});

t.test('[9.doctor-media] players are waited for, and not at all when media is switched off', async (t) => {
  const host = new FakeMediaHost();
  host.snapshot = { ...snapshotOf(), isSettled: false };
  setTimeout(() => host.change(snapshotOf(playerOf('mpv', { playback: 'paused' }))), 100);
  const [media] = await examineMedia(host, true);
  t.equal(media?.source, heard('mpv (paused)'));
  const off = new FakeMediaHost();
  t.match(await examineMedia(off, false), [
    { section: 'media', state: 'partly', reason: 'features.enable_media is off' },
  ]);
  t.equal(off.watched, 0);
  t.match(await examineMedia(undefined, true), [{ section: 'media', state: 'missing' }]);
});

t.test('on Windows nobody speaks of a bus', async (t) => {
  const host = new FakeMediaHost();
  host.snapshot = { absence: 'the service runs in session 0', isSettled: true, players: [], leftOut: 0 };
  const [row] = await examineMedia(host, true, true);
  t.match(row, { state: 'missing', source: 'no media sessions', remedy: /Windows 10 1809/ });
});
