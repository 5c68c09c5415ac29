/** Real players on a bus of the test's own: mpv with mpv-mpris, playerctl as an independent witness, and playerctld. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { DbusPeer } from '../../helpers/dbus/peer.ts';
import { type SessionBus, startSessionBus } from '../../helpers/dbus/session-bus.ts';
import { checkTime, PATIENCE_MS } from '../../helpers/limits.ts';
import { MediaService, percentile } from '../../helpers/service/media.ts';
import { until } from '../../helpers/until.ts';
import { type Tags, writeWav } from '../audio-file.ts';

const PLUGIN = '/usr/lib/mpv-mpris/mpris.so';
const NEEDS = ['/usr/bin/mpv', '/usr/bin/playerctl', '/usr/bin/dbus-daemon', PLUGIN];
const missing = NEEDS.filter((file) => !existsSync(file));
const skip =
  missing.length > 0 && `apt-get install mpv mpv-mpris playerctl dbus (missing: ${missing.join(', ')})`;

t.setTimeout(280_000);

const TRACKS: readonly Tags[] = [
  { title: 'Größe 第二 🎵', artist: 'Ärzte', album: 'Альбом' },
  { title: 'deux — «trois»', artist: 'Ñandú', album: 'Álbum' },
  { title: 'third', artist: 'אבג', album: 'ألبوم' },
];

interface Rig {
  readonly bus: SessionBus;
  readonly service: MediaService;
  /** Returns playerctl's report about a player. */
  readonly witness: (player: string, ...args: readonly string[]) => Promise<string>;
  /** Starts an mpv that plays the tracks; returns its process id. */
  readonly startMpv: (...args: readonly string[]) => number;
}

async function start(t: Test): Promise<Rig> {
  const bus = await startSessionBus();
  t.teardown(() => bus.stop());
  const files = TRACKS.map((tags, i) => {
    const file = path.join(bus.folder, `${i}.wav`);
    writeWav(file, 60, tags);
    return file;
  });
  const service = await MediaService.start(bus.env);
  t.teardown(() => service.stop());
  return {
    bus,
    service,
    witness: (player, ...args) => bus.run('playerctl', ['-p', player, ...args]),
    startMpv(...args) {
      const fixed = ['--no-config', `--script=${PLUGIN}`, '--ao=null', '--no-video', '--idle=yes'];
      return bus.spawn('mpv', [...fixed, ...args, ...files]).pid ?? 0;
    },
  };
}

/** Waits until the witness says `expected`: mpv-mpris reports changes up to 100 ms after they were requested. */
async function seen(rig: Rig, player: string, args: readonly string[], expected: string): Promise<string> {
  let said = '';
  for (const begun = performance.now(); performance.now() - begun < PATIENCE_MS; ) {
    said = await rig.witness(player, ...args).catch((error: Error) => error.message);
    if (said === expected) break;
    await sleep(10);
  }
  return said;
}

const metadataOf = (rig: Rig, player: string) =>
  rig.witness(player, 'metadata', '--format', '{{title}}|{{artist}}|{{album}}');

t.test(
  '[6.status] [6.detail] [6.control] one player: what it plays and which commands it gets',
  { skip },
  async (t) => {
    const rig = await start(t);
    const { service, bus } = rig;
    t.strictSame(await service.status(), { status: 'stopped', title: '', artist: '' }, 'nobody there');
    t.match(await service.control('play'), { status: 200, delivered: 'false' });
    t.match(await service.control('stop'), {
      status: 409,
      code: 'not_possible_now',
      reason: 'no player found',
    });
    rig.startMpv();
    const [first, second] = TRACKS;
    // Until it has read the tags mpv takes the file's name for the title.
    const detail = await service.until(({ title }) => title === first?.title);
    t.strictSame(await service.status(), { status: 'active', title: first?.title, artist: first?.artist });
    t.match(detail, { playback: 'playing', album: first?.album, duration: 60, rate: 1, player: 'mpv' });
    t.match(detail, { repeat: 'none', volume: 100, players: ['mpv'], art_url: null });
    t.equal(
      await metadataOf(rig, 'mpv'),
      `${first?.title}|${first?.artist}|${first?.album}`,
      'playerctl agrees',
    );

    await t.test('play and pause are two, and say no more when said twice', async (t) => {
      for (const [action, state] of [
        ['pause', 'Paused'],
        ['pause', 'Paused'],
        ['play', 'Playing'],
        ['play', 'Playing'],
      ] as const) {
        t.match(await service.control(action), { status: 200, delivered: 'true' });
        await sleep(150);
        t.equal(await rig.witness('mpv', 'status'), state, action);
        t.equal((await service.detail()).playback, state.toLowerCase());
        t.equal((await service.status()).status, 'active', 'paused is active too');
      }
    });

    await t.test('next, prev, previous', async (t) => {
      for (const [action, at] of [
        ['next', 1],
        ['next', 2],
        ['prev', 1],
        ['previous', 0],
      ] as const) {
        t.equal((await service.control(action)).delivered, 'true');
        const { title = '', artist = '', album = '' } = TRACKS[at] ?? {};
        await service.until((now) => now.title === title);
        t.equal(await seen(rig, 'mpv', ['metadata', 'title'], title), title, action);
        t.strictSame(await service.status(), { status: 'active', title, artist });
        const { position } = await service.until((now) => now.position !== null);
        t.ok((position ?? 99) < 5, `the position is the new track's: ${position}`);
        t.equal((await service.detail()).album, album);
      }
    });

    await t.test('play_pause, seek, volume', async (t) => {
      t.equal((await service.control('play_pause')).delivered, 'true');
      t.equal(await seen(rig, 'mpv', ['status'], 'Paused'), 'Paused');
      t.equal((await service.control('seek', { value: 42.5 })).delivered, 'true');
      const { position } = await service.until((now) => Math.abs((now.position ?? 0) - 42.5) < 0.5);
      t.match(await rig.witness('mpv', 'position'), /^42\./, `playerctl too: ${position}`);
      t.match(await service.control('seek', { value: 61 }), { status: 409, code: 'not_possible_now' });
      t.equal((await service.control('set_volume', { value: 40 })).delivered, 'true');
      t.equal(await seen(rig, 'mpv', ['volume'], '0.400000'), '0.400000');
      for (let i = 0; i < 3; i++) t.equal((await service.control('volume_up')).delivered, 'true');
      t.equal(await seen(rig, 'mpv', ['volume'], '0.550000'), '0.550000', 'three steps at once are three');
      t.equal((await service.control('volume_down')).delivered, 'true');
      t.equal(await seen(rig, 'mpv', ['volume'], '0.500000'), '0.500000');
      t.equal((await service.control('mute')).delivered, 'true');
      t.equal(await seen(rig, 'mpv', ['volume'], '0.000000'), '0.000000');
      t.match(await service.until(({ muted }) => muted === true), { volume: 0, supports_ctrl: true });
      t.equal((await service.control('toggle_mute')).delivered, 'true');
      t.equal(await seen(rig, 'mpv', ['volume'], '0.500000'), '0.500000');
      t.equal((await service.until(({ volume }) => volume === 50)).volume, 50);
      t.equal((await service.control('play_pause')).delivered, 'true');
      await service.until(({ playback }) => playback === 'playing');
      // How soon a player that has just been started continues is up to the player: only the order of positions counts.
      const positionNow = async () => (await service.detail()).position ?? 0;
      const before = await positionNow();
      await service.until(({ position }) => (position ?? 0) > before + 0.5);
      const after = await positionNow();
      const said = Number(await rig.witness('mpv', 'position'));
      const later = await positionNow();
      t.ok(
        said > after - 0.5 && said < later + 0.5,
        `it advances on its own from ${before}; playerctl says ${said}, between ${after} and ${later}`,
      );
    });

    await t.test('changes by others are seen', async (t) => {
      await bus.run('playerctl', ['-p', 'mpv', 'next']);
      await service.until((now) => now.title === second?.title);
      await bus.run('playerctl', ['-p', 'mpv', 'position', '30']);
      await service.until((now) => Math.abs((now.position ?? 0) - 30) < 1);
      t.equal((await service.control('stop')).delivered, 'true');
      await service.until(({ playback }) => playback === 'stopped');
      t.strictSame(await service.status(), { status: 'idle', title: '', artist: '' }, 'stopped: idle');
    });
  },
);

t.test('[6.which-player] [6.player] several players, one stopped, and playerctld', { skip }, async (t) => {
  const rig = await start(t);
  const { service, bus } = rig;
  rig.startMpv();
  await service.until(({ status }) => status === 'active');
  const other = `mpv.instance${rig.startMpv('--pause')}`;
  await service.until(({ players }) => players.length === 2);
  await service.until(({ status }) => status === 'active', { player: other });
  t.strictSame((await service.detail()).players, ['mpv', other]);
  t.equal((await service.detail()).player, 'mpv', 'the one playing');
  t.match(await service.detail(other), { playback: 'paused', player: other });
  await rig.witness('mpv', 'pause');
  await service.until(({ playback }) => playback === 'paused');
  t.equal((await service.detail()).player, 'mpv', 'none plays: the one that last played');
  await rig.witness(other, 'play');
  await service.until(({ player }) => player === other);
  await rig.witness(other, 'pause');
  t.match(
    await service.until(({ playback }) => playback === 'paused'),
    { player: other },
    'the one that last played',
  );

  bus.spawn('playerctld', []);
  for (const begun = performance.now(); performance.now() - begun < PATIENCE_MS; ) {
    if ((await bus.run('playerctl', ['-p', 'playerctld', 'status']).catch(() => '')) !== '') break;
    await sleep(20);
  }
  t.match(
    await bus.run('playerctl', ['-p', 'playerctld', 'status']),
    /Paused|Playing/,
    'playerctld is there',
  );
  t.strictSame((await service.detail()).players, ['mpv', other], 'and is no player');
  await t.rejects(service.detail('playerctld'), /player_not_found/);

  t.equal((await service.control('play', { player: 'mpv' })).delivered, 'true');
  t.equal(await seen(rig, 'mpv', ['status'], 'Playing'), 'Playing');
  t.equal(await rig.witness(other, 'status'), 'Paused', 'the other one was not spoken to');
  await service.until(({ player }) => player === 'mpv');
  t.equal((await service.control('next')).delivered, 'true');
  t.equal(await seen(rig, 'mpv', ['metadata', 'title'], TRACKS[1]?.title ?? ''), TRACKS[1]?.title);
  t.equal(await rig.witness(other, 'metadata', 'title'), TRACKS[0]?.title);
  t.equal((await service.control('stop', { player: 'mpv' })).delivered, 'true');
  await service.until(({ playback }) => playback === 'stopped', { player: 'mpv' });
  t.match(await service.detail('mpv'), { status: 'idle', title: '', artist: '', position: null });
  t.equal((await service.control('play', { player: 'gone' })).status, 404);
});

t.test('changes are seen, and players that die are gone, within 100 ms', { skip }, async (t) => {
  const rig = await start(t);
  const { service, bus } = rig;
  const pid = rig.startMpv();
  await service.until(({ status }) => status === 'active');
  const peer = await DbusPeer.open(bus.address);
  t.teardown(() => peer.close());
  let signalledMs = 0;
  peer.onMessage = ({ member, body }) => {
    if (member === 'PropertiesChanged' && JSON.stringify(body[1], plain).includes('PlaybackStatus'))
      signalledMs = performance.now();
  };
  await peer.match("type='signal',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'");
  const lags: number[] = [];
  for (let i = 0; i < 20; i++) {
    const wanted = i % 2 === 0 ? 'paused' : 'playing';
    signalledMs = 0;
    await bus.run('playerctl', ['-p', 'mpv', 'play-pause']);
    await service.until(({ playback }) => playback === wanted);
    const seenMs = performance.now();
    await until(() => signalledMs !== 0);
    lags.push(Math.max(0, seenMs - signalledMs));
  }
  const worst = Math.max(...lags);
  t.comment(
    `figure: media change from the signal on the bus to the status: median ${percentile(lags, 0.5).toFixed(1)} ms, worst ${worst.toFixed(1)} ms of ${lags.length}`,
  );
  checkTime(t, worst, 100, 'the worst');
  const killedMs = performance.now();
  process.kill(pid, 'SIGKILL');
  await service.until(({ status }) => status === 'stopped');
  const goneMs = performance.now() - killedMs;
  t.comment(`figure: media player killed to gone: ${goneMs.toFixed(1)} ms`);
  checkTime(t, goneMs, 100, 'gone');
});

const plain = (_key: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
