/** Players that do everything a bus allows to make others wait, crash or run out of memory. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startCrowd } from '../../helpers/dbus/crowd.ts';
import { GOOD, PLAYING, startMediaRig } from '../../helpers/dbus/media-rig.ts';
import { oddSteps, sendOddSignals } from '../../helpers/dbus/odd-values.ts';
import { metadata, track } from '../../helpers/dbus/player.ts';
import { variant } from '../../helpers/dbus/wire.ts';
import { MediaService } from '../../helpers/service/media.ts';

const skip = !existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus';
const MAX_REQUEST_MS = 1500;

t.setTimeout(280_000);

const memoryMib = (service: MediaService) => {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
};

t.test(
  '[6.slow-player] a mute player costs its caller 1.5 s and no other client anything',
  { skip },
  async (t) => {
    const rig = await startMediaRig(t);
    const mute = await rig.player('aaa');
    mute.answer = () => undefined;
    const good = await rig.player('good', GOOD);
    const begun = performance.now();
    t.strictSame(await rig.service.status(), { status: 'active', title: 'good', artist: '' });
    const firstMs = performance.now() - begun;
    t.ok(firstMs <= MAX_REQUEST_MS, `the first status of all: ${firstMs.toFixed(0)} ms`);
    t.match(await rig.service.detail('aaa'), { status: 'idle', playback: 'stopped' });

    const waiting = ['play', 'stop'].map((action) => rig.service.control(action, { player: 'aaa' }));
    await sleep(20);
    const other = await rig.service.control('pause');
    t.match(other, { status: 200, delivered: 'true' });
    t.ok(other.tookMs < 200, `the other gets its answer at once: ${other.tookMs.toFixed(1)} ms`);
    const [play, stop] = await Promise.all(waiting);
    t.match(play, { status: 200, delivered: 'unknown' }, 'it may still do it');
    t.match(stop, { status: 500, code: 'action_failed' });
    for (const { tookMs } of [play, stop].filter((each) => each !== undefined))
      t.ok(tookMs <= MAX_REQUEST_MS, `ends after ${tookMs.toFixed(0)} ms`);
    t.strictSame(
      good.calls.map(({ member }) => member),
      ['Pause'],
    );
  },
);

t.test('the late answer of a player still counts, and it gets no command twice', { skip }, async (t) => {
  const rig = await startMediaRig(t);
  const late = await rig.player('late', { PlaybackStatus: PLAYING, Metadata: track('late') });
  late.answer = (message) => setTimeout(() => late.respond(message), 2000);
  t.equal((await rig.service.status()).status, 'idle');
  t.match(await rig.service.control('next'), { status: 200, delivered: 'unknown' });
  await rig.service.until(({ title }) => title === 'late');
  await sleep(1500);
  t.strictSame(
    late.calls.map(({ member }) => member),
    ['Next'],
    'a command is never sent again',
  );
});

function checkDetail(t: Test, detail: Awaited<ReturnType<MediaService['detail']>>): void {
  const { position, duration, rate, volume, status, title, artist } = detail;
  for (const number of [position, duration, volume])
    if (number !== null && !(Number.isFinite(number) && number >= 0)) t.fail(`${number} is no sound number`);
  if (rate !== null && !Number.isFinite(rate)) t.fail(`rate ${rate}`);
  if (!['active', 'idle'].includes(status) || typeof title !== 'string' || typeof artist !== 'string')
    t.fail(`no sound status: ${JSON.stringify(detail)}`);
}

t.test(
  'values of any type, in answers and in signals: values that make no sense are left out',
  { skip },
  async (t) => {
    const rig = await startMediaRig(t);
    const player = await rig.player('odd', GOOD);
    await rig.service.until(({ title }) => title === 'good');
    let rounds = 0;
    for (rounds of oddSteps(player)) if (rounds % 10 === 0) checkDetail(t, await rig.service.detail());
    sendOddSignals(player);
    checkDetail(t, await rig.service.detail());
    for (const signature of [undefined, 'i', 's', 'a{si}', 'as', 'v']) {
      player.answer = (message) => {
        if (signature === undefined) player.peer.reply(message);
        else if (signature === 'v') player.peer.reply(message, 'v', [variant('v', variant('i', 3))]);
        else player.peer.reply(message, signature, [signature.startsWith('a') ? [] : 7]);
      };
      player.change({}, ['Metadata']);
      await sleep(20);
      checkDetail(t, await rig.service.detail());
    }
    player.answer = (message) =>
      player.peer.fail(message, 'com.example.Failed', 'line one\nline two\n'.repeat(1000));
    player.change({}, ['Metadata']);
    checkDetail(t, await rig.service.detail());
    const failed = await rig.service.control('stop');
    t.match(failed, { status: 500, code: 'action_failed' });
    t.match(failed.reason, /^odd: .*line one$/, 'the first line of what it said');
    player.answer = undefined;
    player.change(GOOD);
    t.equal((await rig.service.until(({ title }) => title === 'good')).status, 'active', 'and well again');
    t.comment(`${rounds} odd values`);
  },
);

t.test('a player that dies in the middle of a call', { skip }, async (t) => {
  const rig = await startMediaRig(t);
  await rig.player('stays', GOOD);
  const times: number[] = [];
  for (let i = 0; i < 10; i++) {
    const player = await rig.player('dies', { PlaybackStatus: PLAYING });
    await rig.service.until(({ players }) => players.includes('dies'));
    player.answer = () => player.close();
    const { status, delivered, code, tookMs } = await rig.service.control(i % 2 === 0 ? 'next' : 'stop', {
      player: 'dies',
    });
    if (i % 2 === 0) t.strictSame([status, delivered], [200, 'false']);
    else t.ok(status === 409 || status === 500, `${status} ${code}`);
    times.push(tookMs);
    await rig.service.until(({ players }) => !players.includes('dies'));
  }
  t.ok(Math.max(...times) < 500, `known at once: ${Math.max(...times).toFixed(1)} ms`);
});

t.test('metadata of 5 MB', { skip }, async (t) => {
  const rig = await startMediaRig(t);
  const player = await rig.player('big', GOOD);
  await rig.service.until(({ title }) => title === 'good');
  const beforeMib = memoryMib(rig.service);
  const long = '第'.repeat(5_000_000 / 3);
  for (let i = 0; i < 5; i++)
    player.change({
      Metadata: track(`${i}${long}`, {
        'xesam:artist': variant(
          'as',
          Array.from({ length: 1000 }, () => 'x'.repeat(500)),
        ),
      }),
    });
  await rig.service.until(({ title }) => title.startsWith('4'));
  const { title, artist } = await rig.service.status();
  t.ok(
    Buffer.byteLength(title) <= 4096 && Buffer.byteLength(title) > 4090,
    `${Buffer.byteLength(title)} bytes are kept`,
  );
  t.match(title, /^4第+$/, 'cut between characters');
  t.ok(Buffer.byteLength(artist) <= 8192, `${Buffer.byteLength(artist)} bytes of artists`);
  player.change({
    Metadata: metadata(
      Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`x:${i}`, variant('i', i)])),
    ),
  });
  player.change({ Metadata: track('small again') });
  await rig.service.until((now) => now.title === 'small again');
  const grewMib = memoryMib(rig.service) - beforeMib;
  t.comment(`figure: media memory after 25 MB of metadata: ${grewMib.toFixed(1)} MiB more`);
  t.ok(grewMib < 30, `${grewMib.toFixed(1)} MiB more`);
});

t.test('ten thousand names', { skip }, async (t) => {
  const rig = await startMediaRig(t);
  await rig.player('good', GOOD);
  await rig.service.until(({ title }) => title === 'good');
  const beforeMib = memoryMib(rig.service);
  const names = Array.from({ length: 10_000 }, (_, i) => `org.mpris.MediaPlayer2.zzz.n${i}`);
  const crowd = startCrowd(rig.bus.address, names);
  t.teardown(() => crowd.leave());
  await crowd.arrived;
  const { players, player } = await rig.service.detail();
  t.ok(players.length <= 64, `${players.length} are kept`);
  t.equal(player, 'good');
  const second = await MediaService.start(rig.bus.env);
  t.teardown(() => second.stop());
  const begun = performance.now();
  t.equal((await second.status()).title, 'good', 'also to a service that finds them there');
  t.ok(performance.now() - begun <= MAX_REQUEST_MS);
  await crowd.leave();
  await rig.service.until((detail) => detail.players.length === 1, { limitMs: 20_000 });
  await second.until((detail) => detail.players.length === 1, { limitMs: 20_000 });
  const late = await rig.player('late', { ...GOOD, Metadata: track('late') });
  t.equal((await rig.service.until(({ title }) => title === 'late')).player, 'late', 'there is room again');
  late.close();
  const grewMib = memoryMib(rig.service) - beforeMib;
  t.comment(`figure: media memory after 10,000 names: ${grewMib.toFixed(1)} MiB more`);
  t.ok(grewMib < 20, `${grewMib.toFixed(1)} MiB more`);
});

/** Notes when the messages of a stream arrive, until `stop`. */
async function watchStream(service: MediaService) {
  const abort = new AbortController();
  const response = await fetch(`${service.process.baseUrl}/api/stream`, { signal: abort.signal });
  const arrivals: number[] = [];
  const reading = (async () => {
    for await (const bytes of response.body ?? [])
      if (Buffer.from(bytes).includes('data: ')) arrivals.push(performance.now());
  })().catch(() => undefined);
  return {
    async stop() {
      abort.abort();
      await reading;
      return arrivals.slice(1).map((at, i) => at - (arrivals[i] ?? at));
    },
  };
}

t.test('a flood of changes, and a stream beside it that ticks on', { skip }, async (t) => {
  const rig = await startMediaRig(t);
  const player = await rig.player('flood', GOOD);
  await rig.service.until(({ title }) => title === 'good');
  await rig.service.stop();
  const service = await MediaService.start(rig.bus.env, { stats: { stream_interval_seconds: 1 } });
  t.teardown(() => service.stop());
  await service.until(({ title }) => title === 'good');
  const stream = await watchStream(service);
  const until = performance.now() + 5000;
  let sent = 0;
  while (performance.now() < until) {
    for (let i = 0; i < 50; i++)
      player.change({ Metadata: track(`t${++sent}`), Volume: variant('d', (sent % 100) / 100) });
    await sleep(4);
  }
  const finalTitle = `t${sent}`;
  await service.until(({ title }) => title === finalTitle);
  t.comment(`${Math.round(sent / 5)} changes a second`);
  const gaps = await stream.stop();
  t.ok(gaps.length >= 3, `${gaps.length} ticks`);
  const worst = Math.max(...gaps.map((gap) => Math.abs(gap - 1000)));
  t.ok(worst < 250, `each a second after the last, ${worst.toFixed(0)} ms off at worst`);
});
