/** The session bus under the media commands: which one, none, one that comes back; what watching costs; status from memory. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startCrowd } from '../../helpers/dbus/crowd.ts';
import { GOOD, type MediaRig, startMediaRig } from '../../helpers/dbus/media-rig.ts';
import { FakePlayer, track } from '../../helpers/dbus/player.ts';
import { startSessionBus } from '../../helpers/dbus/session-bus.ts';
import { checkTime } from '../../helpers/limits.ts';
import { MediaService } from '../../helpers/service/media.ts';
import { until } from '../../helpers/until.ts';
import { checkStatusTimes } from '../status-times.ts';

const skip = !existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus';

t.setTimeout(280_000);

async function serve(t: Test, env: NodeJS.ProcessEnv): Promise<MediaService> {
  const service = await MediaService.start({ PATH: process.env['PATH'], ...env });
  t.teardown(() => service.stop());
  return service;
}

t.test('[6.bus-address] an address that is set is used as it is, and no other', { skip }, async (t) => {
  const bus = await startSessionBus();
  t.teardown(() => bus.stop());
  const player = await FakePlayer.start(bus.address, 'good', GOOD);
  t.teardown(() => player.close());
  const set = await serve(t, { DBUS_SESSION_BUS_ADDRESS: bus.address, XDG_RUNTIME_DIR: '/nonexistent' });
  t.equal((await set.status()).title, 'good');
  const unset = await serve(t, { XDG_RUNTIME_DIR: bus.folder });
  t.equal((await unset.status()).title, 'good', 'else the one in $XDG_RUNTIME_DIR');
  for (const address of [
    'unix:path=/nonexistent/bus',
    '',
    'nonsense',
    'unixexec:path=/bin/true',
    'autolaunch:',
  ]) {
    const service = await serve(t, { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: bus.folder });
    const begun = performance.now();
    t.strictSame(await service.status(), { status: 'stopped', title: '', artist: '' }, `"${address}"`);
    checkTime(t, performance.now() - begun, 500, 'the answer without a bus');
    t.match(await service.control('play'), { status: 200, delivered: 'false' });
    const refused = await service.control('stop');
    t.match(refused, { status: 501, code: 'not_supported' });
    t.match(refused.reason, /DBUS_SESSION_BUS_ADDRESS|nonexistent|connect/, 'says why');
  }
  t.strictSame(player.calls, []);
  const none = await serve(t, {});
  t.equal((await none.status()).status, 'stopped', 'neither');
  // Root looks for the user at the machine, and asks logind for it.
  const why = process.getuid?.() === 0 ? /no user's session bus: .*no-bus/ : /XDG_RUNTIME_DIR/;
  t.match((await none.control('stop')).reason, why);
});

const busThread = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).find((task) =>
    readFileSync(`/proc/${pid}/task/${task}/comm`, 'utf8').startsWith('hostwire-bus'),
  );

const wakeUps = (pid: number, task: string) =>
  Number(
    /^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8'))?.[1],
  );

t.test(
  'players are not watched before the first request, and watching wakes nothing up',
  { skip },
  async (t) => {
    const bus = await startSessionBus();
    t.teardown(() => bus.stop());
    const player = await FakePlayer.start(bus.address, 'good', GOOD);
    t.teardown(() => player.close());
    const service = await serve(t, bus.env);
    const { pid } = service.process;
    t.equal(busThread(pid), undefined, 'no thread before');
    const begun = performance.now();
    await service.status();
    t.comment(`figure: media first status of all, one player: ${(performance.now() - begun).toFixed(1)} ms`);
    const task = busThread(pid);
    if (task === undefined) throw new Error('no bus thread');
    await sleep(300);
    const before = wakeUps(pid, task);
    await sleep(3000);
    t.equal(wakeUps(pid, task) - before, 0, 'while a player plays on, nothing is asked');
  },
);

t.test(
  'a bus that goes away counts as none, and its players are back within 2 s of its return',
  { skip },
  async (t) => {
    let bus = await startSessionBus();
    t.teardown(() => bus.stop());
    const service = await serve(t, bus.env);
    const times: number[] = [];
    for (let i = 0; i < 3; i++) {
      const player = await FakePlayer.start(bus.address, `p${i}`, { ...GOOD, Metadata: track(`t${i}`) });
      const begun = performance.now();
      await service.until(({ title }) => title === `t${i}`);
      times.push(performance.now() - begun);
      player.answer = () => undefined;
      const pending = service.control('next');
      await until(() => player.calls.some(({ member }) => member === 'Next'));
      await bus.stop();
      t.match(await pending, { status: 200, delivered: 'unknown' }, 'what was under way may have been done');
      await service.until(({ status }) => status === 'stopped');
      t.match(await service.control('stop'), { status: 501, code: 'not_supported' });
      bus = await startSessionBus(bus);
    }
    t.comment(
      `figure: media players seen again after the bus came back: worst ${Math.max(...times).toFixed(0)} ms`,
    );
    checkTime(t, Math.max(...times), 2000, 'seen again');
  },
);

t.test('the service ends within a second while a player is waited for', { skip }, async (t) => {
  const bus = await startSessionBus();
  t.teardown(() => bus.stop());
  const player = await FakePlayer.start(bus.address, 'mute', GOOD);
  t.teardown(() => player.close());
  const service = await MediaService.start(bus.env);
  await service.status();
  player.answer = () => undefined;
  const pending = service.control('next').catch(() => undefined);
  await sleep(50);
  const { code, tookMs } = await service.process.stop();
  t.equal(code, 0);
  checkTime(t, tookMs, 1000, 'the end');
  await pending;
});

/** Disturbances while the status is requested. */
const MISCHIEF: readonly { readonly what: string; readonly act: (rig: MediaRig) => Promise<void> }[] = [
  {
    what: 'while a mute player is waited for',
    async act({ service, player }) {
      const mute = await player('mute');
      mute.answer = () => undefined;
      await service.until(({ players }) => players.includes('mute'));
      await service.control('play', { player: 'mute' });
      mute.close();
    },
  },
  {
    what: 'during metadata of 5 MB',
    async act({ service, player }) {
      const big = await player('big', GOOD);
      await service.until(({ players }) => players.includes('big'));
      const long = 'x'.repeat(5_000_000);
      for (let i = 0; i < 5; i++) {
        big.change({ Metadata: track(`${i}${long}`) });
        await sleep(100);
      }
      big.close();
      await service.until(({ players }) => !players.includes('big'));
    },
  },
  {
    what: 'while 10,000 names come and go',
    async act({ bus, service }) {
      const names = Array.from({ length: 10_000 }, (_, i) => `org.mpris.MediaPlayer2.zzz.n${i}`);
      await startCrowd(bus.address, names).leave();
      await service.until(({ players }) => players.length === 1, {});
    },
  },
  {
    what: 'during a flood of 5,000 changes a second',
    async act({ player }) {
      const flood = await player('flood', GOOD);
      for (let i = 0; i < 200; i++) {
        for (let k = 0; k < 50; k++) flood.change({ Metadata: track(`t${i}.${k}`) });
        await sleep(10);
      }
      flood.close();
    },
  },
];

for (const { what, act } of MISCHIEF)
  t.test(`[6.slow-player] the status answers from memory ${what}`, { skip }, async (t) => {
    const rig = await startMediaRig(t);
    await rig.player('good', GOOD);
    await rig.service.until(({ title }) => title === 'good');
    await checkStatusTimes(t, what, rig.service.process.port, () => act(rig));
  });
