/** Values of every type, for properties that should have another type. */

import { type FakePlayer, metadata } from './player.ts';
import { type Variant, variant } from './wire.ts';

const VALUES: readonly Variant[] = [
  ...[
    variant('i', -1),
    variant('u', 7),
    variant('y', 1),
    variant('n', -5),
    variant('q', 5),
    variant('b', true),
  ],
  ...[variant('x', -9223372036854775808n), variant('t', 18446744073709551615n), variant('s', 'text')],
  ...[Number.NaN, Number.POSITIVE_INFINITY, -1e300, -0].map((value) => variant('d', value)),
  ...[
    variant('o', '/a'),
    variant('g', 'a{sv}'),
    variant('as', ['x', '']),
    variant('as', []),
    variant('ai', [1]),
  ],
  variant('v', variant('v', variant('s', 'deep'))),
  variant('a{sv}', [['xesam:title', variant('i', 5)]]),
  variant('a{si}', [['mpris:length', 5]]),
  variant('(sv)', ['x', variant('d', Number.NaN)]),
];
const KEYS = ['PlaybackStatus', 'LoopStatus', 'Rate', 'Shuffle', 'Metadata', 'Volume', 'Position'];
const MORE_KEYS = ['CanControl', 'CanPlay', 'CanPause', 'CanGoNext', 'CanGoPrevious', 'CanSeek', 'Own'];
const TRACK_KEYS = [
  'mpris:trackid',
  'mpris:length',
  'mpris:artUrl',
  'xesam:title',
  'xesam:artist',
  'xesam:album',
];

/** Sends one odd value per step; every seventh step invalidates the key, so that the service reads all properties. */
export function* oddSteps(player: FakePlayer): Generator<number> {
  let steps = 0;
  for (const value of VALUES)
    for (const key of [...KEYS, ...MORE_KEYS, ...TRACK_KEYS]) {
      player.change(TRACK_KEYS.includes(key) ? { Metadata: metadata({ [key]: value }) } : { [key]: value });
      if (steps % 7 === 0) player.change({}, [key]);
      yield ++steps;
    }
}

const SIGNALS = [
  { member: 'PropertiesChanged', signature: 'si', body: ['org.mpris.MediaPlayer2.Player', 1] },
  { member: 'PropertiesChanged', signature: 's', body: ['org.mpris.MediaPlayer2.Player'] },
  { member: 'Seeked', signature: 's', body: ['x'] },
  { member: 'Seeked' },
];

/** Sends signals with missing or wrong arguments. */
export function sendOddSignals(player: FakePlayer): void {
  for (const { member, ...rest } of SIGNALS)
    player.peer.send({
      type: 'signal',
      path: '/org/mpris/MediaPlayer2',
      interface: member === 'Seeked' ? 'org.mpris.MediaPlayer2.Player' : 'org.freedesktop.DBus.Properties',
      member,
      ...rest,
    });
  player.seeked(-1e15);
}
