/** What `hostwire doctor` says of players and media keys. */
import t from 'tap';
import { examineMedia, judgeMedia } from '#src/cli/doctor-media.js';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fake-media.ts';

const lines = (...given: Parameters<typeof judgeMedia>) =>
  judgeMedia(...given).map(({ subject, state, text }) => `${subject} ${state}: ${text}`);

const NO_BUS = { ...snapshotOf(), absence: 'there is no bus' };
const heard = (text: string) => `the session bus answers: ${text}`;

t.test('[9.doctor-media] bus, players and keys', async (t) => {
  t.strictSame(lines(NO_BUS, 'no device'), ['media no: there is no bus', 'keys no: no device']);
  t.strictSame(lines(NO_BUS, null), [
    'media no: there is no bus',
    'keys ok: media keys are pressed, since no player can be spoken to',
  ]);
  t.strictSame(lines(snapshotOf(), 'no device'), [
    `media ok: ${heard('no player on it now')}`,
    'keys part: no device',
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
  t.equal(lines(crowd, null)[0], `media part: ${heard('mute (does not answer); mpv (playing) and 7 more')}`);
});

t.test('[9.doctor-media] players are waited for, and not at all when media is switched off', async (t) => {
  const host = new FakeMediaHost();
  host.snapshot = { ...snapshotOf(), isSettled: false };
  setTimeout(() => host.change(snapshotOf(playerOf('mpv', { playback: 'paused' }))), 100);
  const [media] = await examineMedia(host, true);
  t.equal(media?.text, heard('mpv (paused)'));
  const off = new FakeMediaHost();
  t.strictSame(await examineMedia(off, false), [
    { subject: 'media', state: 'part', text: 'switched off by features.enable_media' },
  ]);
  t.equal(off.watched, 0);
  t.match(await examineMedia(undefined, true), [{ subject: 'media', state: 'no' }]);
});
