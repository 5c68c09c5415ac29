/** Power over D-Bus: the right method, once, after the answer; and the refusals before anything is done. */
import { chmodSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import '../../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { missingForBus, until } from '../../helpers/dbus/bus.ts';
import { checkTime } from '../../helpers/limits.ts';
import { METHODS, PowerService } from '../../helpers/service/power.ts';

const skip = missingForBus();
/** Longer than any accepted act waits for its hand-over. */
const HANDED_OVER_MS = 700;

t.setTimeout(280_000);

t.test('[5.methods] the best method that this logind knows, and no other', { skip }, async (t) => {
  const ways = {
    all: (method: string) => [`${method}WithFlags(16)`],
    zero: (method: string) => [`${method}WithFlags(16)`, `${method}WithFlags(0)`],
    none: (method: string) => [`${method}WithFlags(16)`, `${method}(false)`],
  };
  for (const flags of ['all', 'zero', 'none'] as const) {
    const service = await PowerService.start(t, { flags, sleepSeconds: 0 });
    for (const [action, method] of Object.entries(METHODS)) {
      const before = service.acts.length;
      const wanted = ways[flags](method);
      t.equal((await service.post(action)).status, 200, action);
      await until('the act', () => service.acts.length >= before + wanted.length);
      await sleep(50);
      t.strictSame(service.actTexts.slice(before), wanted, `${action}, flags: ${flags}`);
    }
    t.notMatch(service.process.stderr(), /failed/);
  }
});

t.test(
  '[5.logind] [5.not-supported] an action that logind says it cannot do is refused, and not done',
  { skip },
  async (t) => {
    const service = await PowerService.start(t, {
      CanPowerOff: 'na',
      CanReboot: 'no',
      CanSuspend: 'challenge',
      CanHibernate: 'perhaps',
    });
    const reasons = {
      shutdown: /this machine cannot do it \(na/,
      restart: /does not allow this user to do it \(no\)/,
      sleep: /would ask this user for an administrator's password \(challenge\)/,
      hibernate: /an unknown answer: perhaps$/,
    };
    for (const [action, reason] of Object.entries(reasons)) {
      const refusal = await service.refusal(action);
      t.equal(refusal.status, 501, action);
      t.equal(refusal.code, 'not_supported');
      t.match(refusal.reason, reason);
    }
    const { actions } = await service.status();
    t.match(actions['shutdown'], { enabled: true, supported: false, reason: reasons.shutdown });
    t.match(actions['lock'], { enabled: true, supported: false, reason: 'no user is logged in' });
    await sleep(HANDED_OVER_MS);
    t.strictSame(service.actTexts, []);
  },
);

t.test(
  '[5.root-inhibitor] [5.user-inhibitor] [5.force] inhibitors as logind lists them',
  { skip },
  async (t) => {
    const service = await PowerService.start(t, {
      sleepSeconds: 0,
      inhibitors: [
        ['shutdown', 'dpkg', 'packages are being installed', 'block-weak', 0],
        ['sleep', 'Player', 'a film', 'block-weak', 1000],
        ['shutdown', 'fwupd', 'a device is being updated', 'block', 0],
        ['sleep:shutdown', 'NetworkManager', 'wants to be told', 'delay', 0],
      ],
    });
    t.strictSame((await service.status()).inhibitors, [
      { who: 'dpkg', why: 'packages are being installed', what: 'shutdown', uid: 0 },
      { who: 'Player', why: 'a film', what: 'sleep', uid: 1000 },
      { who: 'fwupd', why: 'a device is being updated', what: 'shutdown', uid: 0 },
    ]);
    const refusal = await service.refusal('restart');
    t.equal(refusal.status, 409);
    t.equal(refusal.code, 'not_possible_now');
    t.strictSame(refusal.details, { who: 'dpkg', why: 'packages are being installed' });
    t.equal((await service.post('sleep')).status, 200, "a user's does not hold it up");
    await until('sleep', () => service.actTexts.includes('SuspendWithFlags(16)'));
    t.match(service.process.stderr(), /sleep overrides the inhibitor of Player \(uid 1000\): a film/);
    t.equal((await service.post('restart', '?force=1')).status, 200);
    await until('restart', () => service.actTexts.includes('RebootWithFlags(16)'));
    await sleep(100);
    t.strictSame(service.actTexts, ['SuspendWithFlags(16)', 'RebootWithFlags(16)']);
  },
);

t.test(
  '[5.flags] an action that is switched off is 403 without a body, and no bus is used',
  { skip },
  async (t) => {
    const service = await PowerService.start(
      t,
      {},
      {
        features: {
          enable_sleep: false,
          enable_hibernate: false,
          enable_shutdown: false,
          enable_restart: false,
        },
      },
    );
    for (const action of ['shutdown', 'restart', 'sleep', 'hibernate', 'lock']) {
      const answer = await service.post(action, '?force=1');
      t.equal(answer.status, 403, action);
      t.equal(await answer.text(), '');
      t.equal(answer.headers.get('x-error-code'), 'feature_disabled');
    }
    await sleep(HANDED_OVER_MS);
    t.equal(service.relay.connections, 0, 'not even connected to');
  },
);

t.test('[5.deadlines] a logind that hangs costs its caller no more than 1.5 s', { skip }, async (t) => {
  const service = await PowerService.start(t);
  t.ok((await service.status()).actions['sleep']?.supported);
  process.kill(service.bus.logindPid, 'SIGSTOP');
  const asked = await Promise.all(['sleep', 'restart', 'shutdown'].map((action) => service.refusal(action)));
  for (const { status, reason, tookMs } of asked) {
    t.equal(status, 501);
    t.equal(reason, 'logind does not answer');
    checkTime(t, tookMs, 1500, 'the answer');
  }
  const begun = performance.now();
  const [overview] = await Promise.all([service.status(), fetch(`${service.process.baseUrl}/api/status`)]);
  checkTime(t, performance.now() - begun, 1500, 'the overview as well');
  t.match(overview.actions['sleep'], { supported: false, reason: 'logind does not answer' });
  process.kill(service.bus.logindPid, 'SIGCONT');
  t.ok((await service.status()).actions['sleep']?.supported, 'and when it answers again');
  await sleep(HANDED_OVER_MS);
  t.strictSame(service.actTexts, []);
});

t.test('[5.act-fails] a logind that refuses, or hangs, only when it is to act', { skip }, async (t) => {
  const service = await PowerService.start(t, { refusal: 'org.freedesktop.DBus.Error.AccessDenied' });
  t.equal((await service.post('sleep')).status, 200);
  await until('the error', () => /error: power: sleep failed/.test(service.process.stderr()));
  t.match(service.process.stderr(), /sleep failed: logind refuses: refused\n/, 'its first line');
  t.strictSame(service.actTexts, ['SuspendWithFlags(16)'], 'not tried in any other way');
  t.equal((await service.post('restart')).status, 200);
  process.kill(service.bus.logindPid, 'SIGSTOP');
  await until('the error', () =>
    /restart failed: logind does not answer; it may still be carried out/.test(service.process.stderr()),
  );
  process.kill(service.bus.logindPid, 'SIGCONT');
});

t.test('[5.never-replayed] a bus that is lost between the answer and the act', { skip }, async (t) => {
  const service = await PowerService.start(t, { sleepSeconds: 0 });
  t.equal((await service.post('sleep')).status, 200);
  await service.bus.kill();
  await until('the error', () => /error: power: sleep failed: no system bus/.test(service.process.stderr()));
  await service.bus.restart();
  await service.bus.startLogind({ sleepSeconds: 0 });
  await until('the way back', async () => (await service.status()).actions['sleep']?.supported === true);
  await sleep(HANDED_OVER_MS);
  t.strictSame(service.actTexts, []);
});

t.test(
  '[5.wake-drops] actions queued while the machine slept are dropped when it wakes',
  { skip },
  async (t) => {
    const service = await PowerService.start(t, { sleepSeconds: 1.5 });
    t.equal((await service.post('sleep')).status, 200);
    await until('sleep', () => service.acts.length === 1);
    t.equal((await service.post('restart')).status, 200);
    t.equal((await service.post('hibernate')).status, 200);
    await until('waking', () => /the machine has woken/.test(service.process.stderr()));
    await sleep(HANDED_OVER_MS);
    t.strictSame(service.actTexts, ['SuspendWithFlags(16)']);
    for (const action of ['restart', 'hibernate'])
      t.match(service.process.stderr(), `${action} was not carried out: the machine has only just woken`);
    t.equal((await service.post('restart')).status, 200);
    await until('a new one', () => service.actTexts.at(-1) === 'RebootWithFlags(16)');
  },
);

t.test('[5.logind] no power manager, and systemd alone', { skip }, async (t) => {
  const service = await PowerService.start(t, null);
  for (const action of ['shutdown', 'restart', 'sleep', 'hibernate', 'lock']) {
    const { status, reason } = await service.refusal(action);
    t.equal(status, 501, action);
    t.match(reason, /logind is not on the system bus|neither logind/);
  }
  t.strictSame((await service.status()).inhibitors, []);
  await service.bus.startManager();
  for (const action of ['sleep', 'hibernate', 'lock'])
    t.equal((await service.refusal(action)).status, 501, action);
  if (process.getuid?.() !== 0) {
    t.pass('shutdown and restart', { skip: 'only root is let' });
    return;
  }
  for (const action of ['shutdown', 'restart']) t.equal((await service.post(action)).status, 200, action);
  const done = () => service.relay.toServices.filter(({ member }) => member === 'StartUnit');
  await until('both', () => done().length === 2);
  t.strictSame(
    done().map(({ destination, argument }) => [destination, argument]),
    [
      ['org.freedesktop.systemd1', 'poweroff.target'],
      ['org.freedesktop.systemd1', 'reboot.target'],
    ],
  );
});

t.test('[5.lock] root locks every session, a user only their own', { skip }, async (t) => {
  const sessions = [
    ['c1', 1001, 'seat0'],
    ['c2', 65_534, 'seat0'],
    ['c3', 65_534, ''],
  ] as const;
  const start = async (uid: number | undefined) =>
    PowerService.start(
      t,
      { sessions },
      {
        start(command, args, how) {
          if (uid === undefined) return spawn(command, args, how);
          const config = args[args.indexOf('--config') + 1] ?? '';
          chmodSync(path.dirname(config), 0o755);
          chmodSync(config, 0o644);
          // The relay's socket is this user's.
          chmodSync(how.env?.['DBUS_SYSTEM_BUS_ADDRESS']?.replace('unix:path=', '') ?? '', 0o666);
          return spawn(command, args, { ...how, uid, gid: uid });
        },
      },
    );
  if (process.getuid?.() !== 0) {
    t.pass('as other users', { skip: 'only root can start them' });
    return;
  }
  const root = await start(undefined);
  t.equal((await root.post('lock')).status, 200);
  await until('the lock', () => root.acts.length === 1);
  const user = await start(65_534);
  t.equal((await user.post('lock')).status, 200);
  await until('the lock', () => user.acts.length === 1);
  const stranger = await start(65_533);
  const { status, reason } = await stranger.refusal('lock');
  t.equal(status, 501);
  t.match(reason, /this user is not logged in/);
  await sleep(100);
  t.strictSame(root.actTexts, ['LockSessions()']);
  t.strictSame(user.actTexts, ['LockSession(c2)'], 'the one with a seat');
  t.strictSame(stranger.actTexts, []);
});
