/** The Debian package where systemd runs: its units, the journal, an upgrade and a purge. */
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { make } from '../packaging/made.ts';
import { buildImage, debianRelease, installPackage } from './image.ts';
import { ADD_ALICE, startMachine, toolsFor } from './rig.ts';
import { until } from './wait.ts';

/** dpkg in an emulated machine. */
const DPKG_LIMIT_MS = 400_000;

t.setTimeout(1_800_000);
const { vm } = await startMachine(t, 'package', (folder) => {
  const [first = ''] = make('debian.mjs', folder);
  const [next = ''] = make('debian.mjs', folder, '--revision', '2');
  return buildImage(folder, debianRelease() ?? '', (rootfs) => {
    installPackage(first)(rootfs);
    copyFileSync(next, path.join(rootfs, 'root/next.deb'));
  });
});
const { get, serving, inside } = toolsFor(vm);
const USER = 'systemctl --user -M alice@';
const pids = async () =>
  (await inside(`for manager in systemctl '${USER}'; do $manager show -p MainPID --value hostwire; done`))
    .split('\n')
    .map(Number);

await serving();

t.test('the system unit runs the program of the package', async (t) => {
  t.match(await inside('hostwire --version'), /uWebSockets\.js \(its binary loads here\)/);
  t.equal((await vm.run('command -v node')).code, 1, 'there is no other Node');
  const pid = await inside('systemctl show -p MainPID --value hostwire');
  t.equal(await inside(`readlink /proc/${pid}/exe`), '/usr/lib/hostwire/node');
  t.equal(await inside(`stat -c %U /proc/${pid}`), 'hostwire');
  t.equal(
    await inside('systemctl show -p FragmentPath --value hostwire'),
    '/lib/systemd/system/hostwire.service',
  );
});

t.test('the user unit, which is not enabled by default, serves a user', async (t) => {
  await inside(ADD_ALICE);
  t.equal((await vm.run(`${USER} is-enabled hostwire`)).text, 'disabled');
  await inside(`${USER} enable --now hostwire`);
  await serving(vm.otherPort);
  const { capabilities } = await get('/api/system?detail=1', vm.otherPort);
  t.equal(capabilities.media.supported, true, 'it has a session bus');
});

t.test('the journal has the lines of both with their priorities', async (t) => {
  const lines = async (which: string) =>
    (await inside(`journalctl --no-pager -o json ${which} _COMM=node`))
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly PRIORITY: string; readonly MESSAGE: string }); // journalctl's format.
  const priorityOf = async (which: string, text: RegExp) =>
    (await lines(which)).find(({ MESSAGE }) => text.test(MESSAGE))?.PRIORITY;
  const system = '-u hostwire';
  t.equal(await priorityOf(system, /listening on http/), '6', 'information');
  t.equal(await priorityOf(system, /anyone|any machine|key/i), '4', 'a warning: it is open to the network');
  t.equal(await priorityOf('_SYSTEMD_USER_UNIT=hostwire.service', /listening on http/), '6');
  await inside(`cp /etc/hostwire/config.json /root/
    echo '{ "server": { "port": "none" } }' >/etc/hostwire/config.json; systemctl reload hostwire`);
  await until(
    'the error is logged',
    30_000,
    async () => (await priorityOf(system, /server\.port/)) || undefined,
  );
  t.equal(await priorityOf(system, /server\.port/), '3', 'an error');
  t.match(await inside('journalctl --no-pager -p err -u hostwire'), /server\.port/);
  await inside('cp /root/config.json /etc/hostwire/ && systemctl reload hostwire');
});

t.test('an upgrade restarts both', async (t) => {
  const before = await pids();
  await inside('dpkg --install /root/next.deb', DPKG_LIMIT_MS);
  await serving();
  await serving(vm.otherPort);
  const after = await pids();
  for (const [i, pid] of before.entries()) t.not(after[i], pid, 'another process');
  t.equal(await inside(`${USER} is-enabled hostwire; systemctl is-enabled hostwire`), 'enabled\nenabled');
});

t.test('a purge stops both and leaves nothing', async (t) => {
  await inside('dpkg --purge hostwire', DPKG_LIMIT_MS);
  t.equal((await vm.run('pgrep -x node')).code, 1, 'neither runs');
  t.equal((await vm.run('getent passwd hostwire')).code, 2, 'no user');
  const left = await inside(
    "find / -xdev -name '*hostwire*' -not -path '/root/*' -not -path '/var/lib/alice/*' -not -path '/tmp/*'",
  );
  t.equal(left, '');
  t.comment('figure: both units of the package served; an upgrade and a purge in the machine');
});
