/** hostwire in a virtual machine: what it reads, which clients may do what, real power and keys. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { request } from './client.ts';
import { expectSameDisks } from './disks.ts';
import { buildImage, debianRelease } from './image.ts';
import { pressedKeys } from './keys.ts';
import { allowedActions } from './polkit.ts';
import { ADD_ALICE, OK, startMachine, toolsFor } from './rig.ts';

t.setTimeout(1_200_000);
const started = Date.now();
const { image, builtAtMs, vm } = await startMachine(t, 'units', (folder) =>
  buildImage(folder, debianRelease() ?? ''),
);
const { get, serving, powerSettled, inside, event } = toolsFor(vm);
const seconds = (from: number, to = Date.now()) => ((to - from) / 1000).toFixed(0);
t.comment(
  `figure: Debian from packages${image.wasKept ? ' kept' : ''} in ${seconds(started, builtAtMs)} s, up in ${seconds(builtAtMs)} s under TCG, kernel ${image.version}`,
);

await serving();

t.test('the shipped system unit runs, without rights, in a mount table of its own', async (t) => {
  const pid = await inside('systemctl show -p MainPID --value hostwire');
  const status = await inside(`cat /proc/${pid}/status; id -u hostwire`);
  const uid = status.split('\n').at(-1);
  t.match(status, new RegExp(`^Uid:\\s${uid}\\s${uid}\\s${uid}\\s${uid}$`, 'm'));
  t.match(status, /^CapEff:\t0+$/m);
  t.match(status, /^CapBnd:\t0+$/m);
  t.match(status, /^NoNewPrivs:\t1$/m);
  t.match(status, /^Seccomp:\t2$/m);
  const [own, first] = (await inside(`readlink /proc/${pid}/ns/mnt /proc/1/ns/mnt`)).split('\n');
  t.not(own, first, 'the test of disks would show nothing otherwise');
  t.equal(await inside('systemctl is-failed hostwire || true'), 'active');
});

t.test('its stats are the machine’s', async (t) => {
  const sample = await get('/api/usage?detail=1');
  const [memory = '', uptime = '', count = ''] = (
    await inside('grep MemTotal /proc/meminfo; cut -d. -f1 /proc/uptime; nproc')
  ).split('\n');
  t.equal(sample.memory.total, Number(/\d+/.exec(memory)?.[0]) * 1024);
  t.ok(sample.memory.used > 0 && sample.memory.used < sample.memory.total);
  t.ok(Math.abs(sample.uptime - Number(uptime)) < 30, `${sample.uptime} s, ${uptime} s`);
  t.equal(sample.cpu.cores.length, Number(count));
  t.ok(sample.cpu.current_load >= 0 && sample.cpu.current_load <= 100);
  t.equal(sample.gpu, null);
  t.ok(sample.network.bytesRecv > 0 && sample.network.bytesSent > 0);
  t.equal((await get('/api/system')).hostname, await inside('hostname'));
});

t.test('the shipped user unit serves a user, beside it', async (t) => {
  await inside(`${ADD_ALICE}
    systemctl --user -M alice@ start hostwire`);
  await serving(vm.otherPort);
  const { capabilities } = await get('/api/system?detail=1', vm.otherPort);
  t.equal(capabilities.media.supported, true, 'it has a session bus');
  t.equal(capabilities.power.restart.supported, false, 'a user who is not at the machine may not restart it');
  t.match((await request(vm.otherPort, 'POST', '/api/pw/sleep')).status, 501);
});

t.test('disks, sizes and read_only under the system unit are those outside it', async (t) => {
  await expectSameDisks(t, vm, { '/': false, '/home': false, '/srv/sealed': true }, 'at the start');
  const own = { '/': false, '/home': false, '/srv/sealed': false };
  const homeIsReadOnly = { ...own, '/home': true };
  const steps: readonly (readonly [string, Readonly<Record<string, boolean>>])[] = [
    ['mount /dev/vdd /srv/late', { ...own, '/srv/sealed': true, '/srv/late': false }],
    ['mount -o remount,rw /srv/sealed', { ...own, '/srv/late': false }],
    ['mount -o remount,bind,ro /home', { ...homeIsReadOnly, '/srv/late': false }],
    ['mount -o remount,ro /srv/late', { ...homeIsReadOnly, '/srv/late': true }],
    ['mount --bind /home /srv/again', { ...homeIsReadOnly, '/srv/late': true }],
    ['umount /srv/late; mount -o remount,bind,rw /home', own],
  ];
  for (const [script, readOnly] of steps) {
    await inside(script);
    await expectSameDisks(t, vm, readOnly, script);
  }
});

t.test('nor does a stricter sandbox make them look read-only', async (t) => {
  const folder = '/run/systemd/system/hostwire.service.d';
  await inside(`mkdir ${folder}
    printf '[Service]\\nProtectSystem=strict\\nProtectHome=read-only\\n' >${folder}/strict.conf
    systemctl daemon-reload && systemctl restart hostwire`);
  await serving();
  const own = await inside('cat /proc/$(systemctl show -p MainPID --value hostwire)/mountinfo');
  t.match(own, /^\d+ \d+ \S+ \/ \/ ro,.* rw$/m, 'in its own table they are');
  await expectSameDisks(t, vm, { '/': false, '/home': false, '/srv/sealed': false }, 'sealed');
  await inside(`rm -r ${folder}; systemctl daemon-reload && systemctl restart hostwire`);
  await serving();
});

t.test('the polkit rule lets exactly the user of the unit, and it to exactly these acts', async (t) => {
  await powerSettled('restart');
  const pid = await inside('systemctl show -p MainPID --value hostwire');
  const other = await inside('systemctl --user -M alice@ show -p MainPID --value hostwire');
  const mine = await allowedActions(vm, pid);
  const others = await allowedActions(vm, other);
  t.strictSame(
    mine.allowed.filter((action) => !others.allowed.includes(action)),
    // set-wall-message: to power off or reboot implies it, says logind's own policy.
    ['hibernate', 'power-off', 'reboot', 'suspend']
      .flatMap((act) => ['', '-ignore-inhibit', '-multiple-sessions'].map((end) => `${act}${end}`))
      .concat('set-wall-message')
      .map((act) => `org.freedesktop.login1.${act}`)
      .sort(),
  );
  t.strictSame(
    others.allowed.filter((action) => !mine.allowed.includes(action)),
    [],
  );
  t.comment(
    `figure: ${mine.asked} actions of polkit, ${mine.allowed.length - others.allowed.length} more than a user's are allowed`,
  );
  const before = await inside('cat /proc/sys/kernel/random/boot_id');
  const manager = 'org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager';
  const tried = await vm.run(
    `setpriv --reuid alice --regid alice --clear-groups busctl call ${manager} PowerOff b false`,
  );
  t.not(tried.code, 0);
  t.match(tried.text, /interactive authentication required|access denied|not authorized/i);
  t.equal(await inside('cat /proc/sys/kernel/random/boot_id'), before);
});

t.test('the service reports what logind can do', async (t) => {
  const { actions } = await get('/api/pw');
  const manager = 'org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager';
  const ask = (what: string) =>
    inside(`setpriv --reuid hostwire --regid hostwire --clear-groups busctl call ${manager} Can${what}`);
  for (const [action, what] of [
    ['shutdown', 'PowerOff'],
    ['restart', 'Reboot'],
    ['sleep', 'Suspend'],
    ['hibernate', 'Hibernate'],
  ] as const) {
    const said = await ask(what);
    t.equal(actions[action].supported, said === 's "yes"', `${action}: ${said}`);
  }
  t.equal(actions.sleep.supported, true);
  t.equal(actions.hibernate.supported, false, 'without swap');
  t.match((await request(vm.port, 'POST', '/api/pw/hibernate')).status, 501);
});

t.test('media keys reach the kernel’s input', async (t) => {
  const press = async (action: string) => {
    const reply = await request(vm.port, 'POST', '/api/media/control', { action });
    t.equal(reply.body, '{"status":"ok"}');
    t.equal(
      reply.headers['x-media-delivered'],
      'unknown',
      `${action}: pressed, and nobody says whether it was heard`,
    );
  };
  await press('pause');
  const keys = await pressedKeys(vm, 'hostwire media keys', async () => {
    for (const action of ['play', 'pause', 'next', 'prev']) await press(action);
  });
  // input-event-codes.h: PLAYCD, PAUSECD, NEXTSONG, PREVIOUSSONG; each goes down and up.
  t.strictSame(
    keys,
    [200, 201, 163, 165].flatMap((code) => [`${code} down`, `${code} up`]),
  );
  t.comment(`figure: ${keys.length} transitions of media keys read back from evdev`);
});

t.test('sleep suspends the machine; after waking, the service continues', async (t) => {
  const before = await get('/api/usage');
  const reply = await request(vm.port, 'POST', '/api/pw/sleep');
  t.equal(reply.body, OK);
  const asleep = await event('SUSPEND', 'it sleeps');
  t.ok(reply.readAtMs < asleep.atMs, 'the answer had been read');
  t.comment(`figure: asleep ${(asleep.atMs - reply.readAtMs).toFixed(0)} ms after the ok was read`);
  await sleep(3000);
  vm.send('system_wakeup');
  await event('WAKEUP', 'it wakes');
  await serving();
  const after = await get('/api/usage');
  t.ok(after.uptime >= before.uptime + 3, `uptime counts the sleep: ${before.uptime}, ${after.uptime} s`);
  t.ok(after.cpu.current_load >= 0 && after.cpu.current_load <= 100);
});

t.test('restart restarts the machine, after the answer', async (t) => {
  const bootId = 'cat /proc/sys/kernel/random/boot_id';
  const before = await inside(bootId);
  await powerSettled('restart');
  const reply = await request(vm.port, 'POST', '/api/pw/restart');
  t.equal(reply.status, 200);
  t.equal(reply.body, OK);
  const reset = await event('RESET', 'it restarts', 120_000);
  t.ok(reply.readAtMs < reset.atMs, 'the whole answer had been read');
  t.match(vm.console(), /reboot: Restarting system/);
  await vm.ready();
  t.not(await inside(bootId), before, 'another boot');
  await serving();
  t.comment(
    `figure: restarted ${((reset.atMs - reply.readAtMs) / 1000).toFixed(1)} s after the ok was read, serving again ${seconds(reset.atMs)} s later`,
  );
});

t.test('shutdown powers the machine off, after the answer', async (t) => {
  await powerSettled('restart');
  const reply = await request(vm.port, 'POST', '/api/pw/shutdown');
  t.equal(reply.status, 200);
  t.equal(reply.body, OK);
  t.equal(await Promise.race([vm.ended, sleep(120_000, 'still on', { ref: false })]), 0, 'qemu has ended');
  const off = vm.events().find(({ name }) => name === 'SHUTDOWN');
  t.ok(off !== undefined && reply.readAtMs < off.atMs, 'the whole answer had been read');
  t.match(vm.console(), /reboot: Power down/);
  t.comment(
    `figure: off ${(((off?.atMs ?? Number.NaN) - reply.readAtMs) / 1000).toFixed(1)} s after the ok was read`,
  );
  t.comment(`figure: all in ${seconds(started)} s`);
});
