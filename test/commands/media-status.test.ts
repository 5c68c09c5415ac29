/** Which player is selected and what its status says: the rules on literals. */
import t from 'tap';
import {
  deriveMediaStatus,
  findPlayer,
  nameOf,
  playersOf,
  selectPlayer,
} from '#src/commands/media-status.js';
import { MEDIA_VERBS, type MediaPlayer } from '#src/host/media.js';
import { playerOf, snapshotOf } from '../helpers/fakes/media.ts';

const chosen = (...players: readonly MediaPlayer[]) => {
  // Whatever order the bus names them in.
  const names = [players, [...players].reverse()].map(
    (order) => selectPlayer(snapshotOf(...order))?.names[0],
  );
  return names[0] === names[1] ? names[0] : names;
};

t.test(
  '[6.which-player] the one playing; otherwise the one that last played; otherwise the first by name',
  async (t) => {
    const a = playerOf('a');
    const b = playerOf('b');
    t.equal(chosen(), undefined);
    t.equal(chosen(b, a), 'a', 'the first by name');
    t.equal(chosen(a, playerOf('B')), 'B', 'by code units, wherever the service runs');
    t.equal(chosen(a, playerOf('b', { playback: 'playing', lastPlayedMs: 1 })), 'b', 'the one playing');
    const paused = playerOf('a', { playback: 'paused', lastPlayedMs: 500 });
    t.equal(
      chosen(paused, playerOf('b', { playback: 'playing', lastPlayedMs: 1 })),
      'b',
      'whichever played last',
    );
    t.equal(
      chosen(a, playerOf('b', { playback: 'stopped', lastPlayedMs: 5 })),
      'b',
      'the one that last played',
    );
    t.equal(chosen(paused, playerOf('b', { playback: 'paused', lastPlayedMs: 501 })), 'b');
    t.equal(chosen(paused, playerOf('b', { playback: 'paused', lastPlayedMs: 499 })), 'a');
    t.equal(chosen(a, playerOf('b', { playback: 'paused' })), 'a', 'a pause is no play');
    const first = playerOf('a', { playback: 'playing', lastPlayedMs: 5 });
    t.equal(chosen(first, playerOf('b', { playback: 'playing', lastPlayedMs: 6 })), 'b', 'the last to begin');
    t.equal(
      chosen(first, playerOf('b', { playback: 'playing', lastPlayedMs: 5 })),
      'a',
      'the first of equals',
    );
    t.equal(chosen(playerOf('a', { isSilent: true }), b), 'b', 'one that does not answer stands behind');
    t.equal(chosen(playerOf('a', { isSilent: true })), 'a', 'unless it is the only one');
  },
);

t.test('[6.which-player] playerctld is not a player', async (t) => {
  const proxy = playerOf('playerctld', { playback: 'playing', lastPlayedMs: 9, title: 'x' });
  t.equal(chosen(proxy), undefined);
  t.equal(chosen(proxy, playerOf('vlc')), 'vlc');
  t.strictSame(playersOf(snapshotOf(proxy, playerOf('vlc'))).map(nameOf), ['vlc']);
  t.equal(findPlayer(snapshotOf(proxy), 'playerctld'), undefined);
  t.strictSame(deriveMediaStatus(snapshotOf(proxy), undefined, false), {
    status: 'stopped',
    title: '',
    artist: '',
  });
  const both = playerOf('playerctld', { names: ['playerctld', 'vlc'] });
  t.equal(chosen(both, playerOf('zzz')), 'playerctld', 'a player that took its name as well is one');
  t.equal(nameOf(both), 'vlc');
  t.equal(findPlayer(snapshotOf(both), 'playerctld'), undefined);
});

t.test('[6.player] a name picks one by an exact match with any of its names', async (t) => {
  const vlc = playerOf('vlc', { names: ['vlc', 'vlc.instance7'] });
  const all = snapshotOf(playerOf('mpv', { playback: 'playing' }), vlc);
  for (const name of ['vlc', 'vlc.instance7']) t.equal(findPlayer(all, name), vlc);
  for (const name of ['', 'VLC', 'vl', 'vlc ', 'vlc.instance', 'constructor'])
    t.equal(findPlayer(all, name), undefined, JSON.stringify(name));
});

const TRACK = { title: 'Grüße 🎵', artists: ['Ä', 'Ö'] };
const statusOf = (part: Partial<MediaPlayer>) => {
  const player = playerOf('mpv', part);
  return deriveMediaStatus(snapshotOf(player), player, false);
};

t.test('[6.status] [I.media.states] active, idle, stopped, each with three strings', async (t) => {
  const active = { status: 'active', title: 'Grüße 🎵', artist: 'Ä, Ö' };
  t.strictSame(statusOf({ ...TRACK, playback: 'playing' }), active);
  t.strictSame(statusOf({ ...TRACK, playback: 'paused' }), active, 'paused counts as active');
  const idle = { status: 'idle', title: '', artist: '' };
  t.strictSame(statusOf({ ...TRACK, playback: 'stopped' }), idle, 'stopped with a track');
  t.strictSame(statusOf({ playback: 'playing' }), idle, 'playing what has no name');
  t.strictSame(
    statusOf({ playback: 'playing', album: 'A', durationSeconds: 3 }),
    idle,
    'metadata is title or artist',
  );
  t.strictSame(statusOf({ playback: 'playing', artists: ['', ''] }), idle, 'empty artists are none');
  t.strictSame(statusOf({ playback: 'paused', artists: ['', 'X'] }), {
    status: 'active',
    title: '',
    artist: 'X',
  });
  t.strictSame(statusOf({ playback: 'paused', title: 'T' }), { status: 'active', title: 'T', artist: '' });
  const stopped = { status: 'stopped', title: '', artist: '' };
  t.strictSame(deriveMediaStatus(snapshotOf(), undefined, false), stopped, 'no session');
  const noBus = { ...snapshotOf(), absence: 'there is no bus' };
  t.strictSame(deriveMediaStatus(noBus, undefined, false), stopped, 'no bus');
});

t.test('[6.title] a track without a title is named after its file', async (t) => {
  const titleOf = (url: string) => statusOf({ playback: 'playing', url }).title;
  for (const [url, title] of [
    ['file:///music/01%20Gr%C3%BC%C3%9Fe.flac', '01 Grüße'],
    ['file:///music/What is love?.mp3', 'What is love?'],
    ['file:///music/100%.ogg', '100%'],
    ['file:///music/Part 1.5', 'Part 1.5'],
    ['file:///music/St.Anger.mp3', 'St.Anger'],
    ['file:///music/.hidden', '.hidden'],
    ['/music/a b.m4a', 'a b'],
    ['http://radio.example:8000/live/jazz.mp3?token=1#x', 'jazz'],
    ['smb://server/share/film.mkv', 'film'],
    ['file:///music/%FF%FE.mp3', '%FF%FE'],
    ['file:///music/', ''],
    ['http://radio.example:8000', ''],
    ['spotify:track:4uLU6hMCjMI75M1A2tKUQC', ''],
    ['', ''],
  ] as const)
    t.equal(titleOf(url), title, url);
  t.equal(statusOf({ playback: 'playing', url: 'file:///x.mp3', title: 'T' }).title, 'T');
  t.equal(statusOf({ playback: 'playing', url: 'file:///x.mp3' }).status, 'active');
});

t.test('[6.detail] detail adds its keys, null where the player does not say', async (t) => {
  const player = playerOf('mpv', {
    ...TRACK,
    playback: 'paused',
    album: 'Album',
    artUrl: 'file:///a.png',
    durationSeconds: 61.23456,
    positionSeconds: 1.2344,
    rate: 1.5,
    shuffle: false,
    repeat: 'track',
    volume: 0.505,
  });
  const full = {
    status: 'active',
    title: 'Grüße 🎵',
    artist: 'Ä, Ö',
    playback: 'paused',
    playing: false,
    album: 'Album',
    position: 1.234,
    duration: 61.235,
    rate: 1.5,
    shuffle: false,
    repeat: 'track',
    volume: 50.5,
    muted: false,
    supports_ctrl: true,
    player: 'mpv',
    players: ['aaa', 'mpv'],
    art_url: 'file:///a.png',
    has_art: true,
  };
  t.strictSame(deriveMediaStatus(snapshotOf(player, playerOf('aaa')), player, true), full);
  const silent = playerOf('mpv', { playback: 'playing' });
  const unknown = {
    album: null,
    position: null,
    duration: null,
    rate: null,
    shuffle: null,
    repeat: null,
    volume: null,
    muted: null,
    art_url: null,
    has_art: false,
  };
  t.strictSame(deriveMediaStatus(snapshotOf(silent), silent, true), {
    status: 'idle',
    title: '',
    artist: '',
    playback: 'playing',
    playing: true,
    ...unknown,
    player: 'mpv',
    players: ['mpv'],
    supports_ctrl: true,
  });
  t.strictSame(deriveMediaStatus(snapshotOf(), undefined, true), {
    status: 'stopped',
    title: '',
    artist: '',
    playback: 'stopped',
    playing: false,
    ...unknown,
    player: null,
    players: [],
    supports_ctrl: false,
  });
  const helpless = playerOf('mpv', { volume: 0, cannot: MEDIA_VERBS });
  t.match(deriveMediaStatus(snapshotOf(helpless), helpless, true), { muted: true, supports_ctrl: false });
  for (const [part, expected] of [
    [{ artUrl: '/a.png' }, { art_url: '/a.png', has_art: true }],
    [{ artUrl: 'https://cdn.example/a.png?signature=1' }, { has_art: false }],
    [{ artUrl: 'data:image/png;base64,iVBORw0KGgo=' }, { has_art: true }],
    [
      { artUrl: null, isArtLong: true },
      { art_url: null, has_art: true },
    ],
  ] as const) {
    const shown = { ...player, ...part };
    t.match(deriveMediaStatus(snapshotOf(shown), shown, true), expected, JSON.stringify(part));
  }
  const stopped = { ...player, playback: 'stopped' } as const;
  t.match(
    deriveMediaStatus(snapshotOf(stopped), stopped, true),
    { album: null, position: null, duration: null, art_url: null, rate: 1.5, volume: 50.5 },
    'nothing about a track that is not playing',
  );
});
