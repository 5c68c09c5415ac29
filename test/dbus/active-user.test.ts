/** A service that root has started reaches the session bus of the user at the machine, and no other bus. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { missingForBus, PrivateBus, until } from '../helpers/dbus/bus.ts';
import { programPath, whyNoProgram } from '../helpers/native/program.ts';

const execute = promisify(execFile);
const skip =
  missingForBus() ||
  whyNoProgram('active_user_test') ||
  (process.getuid?.() !== 0 && 'only root may take the ids of others');

/** A user's session bus as dbus-daemon runs it: for that user alone. Returns its id, as GetId reports it. */
async function startUserBus(t: Test, folder: string, uid: number): Promise<string> {
  mkdirSync(folder);
  chownSync(folder, uid, uid);
  const config = path.join(folder, 'bus.conf');
  writeFileSync(
    config,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=${folder}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
  );
  chmodSync(config, 0o644);
  const daemon = spawn('/usr/bin/dbus-daemon', [`--config-file=${config}`, '--nofork', '--print-address'], {
    uid,
    gid: uid,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => daemon.kill('SIGKILL'));
  await new Promise((resolve, reject) => {
    daemon.stdout.once('data', resolve);
    daemon.once('exit', (code) => reject(new Error(`dbus-daemon ended with ${code}`)));
  });
  const name = 'org.freedesktop.DBus';
  const args = [
    `--bus=unix:path=${folder}/bus`,
    '--print-reply=literal',
    `--dest=${name}`,
    '/',
    `${name}.GetId`,
  ];
  const { stdout } = await execute('/usr/bin/dbus-send', args, { uid, gid: uid });
  return stdout.trim();
}

/** Runs `code` with `logind` (the mock) and `session`, `user` and `active`, which change its objects. */
async function changeLogind(bus: PrivateBus, code: string): Promise<void> {
  const script = `
import dbus
bus = dbus.SystemBus()
at = lambda path, interface: dbus.Interface(bus.get_object('org.freedesktop.login1', '/org/freedesktop/login1' + path), interface)
logind = at('', 'org.freedesktop.DBus.Mock')
put = lambda path, kind, name, value: at(path, 'org.freedesktop.DBus.Properties').Set('org.freedesktop.login1.' + kind, name, value)
session = lambda id, name, value: put('/session/' + id, 'Session', name, value)
user = lambda uid, folder: put('/user/' + str(uid), 'User', 'RuntimePath', folder)
active = lambda id: put('/seat/seat0', 'Seat', 'ActiveSession', dbus.Struct((id, dbus.ObjectPath('/org/freedesktop/login1/session/' + id) if id else dbus.ObjectPath('/')), signature='so', variant_level=1))
${code}
`;
  const child = spawn('/usr/bin/python3', ['-c', script], {
    env: { PATH: '/usr/bin:/bin', DBUS_SYSTEM_BUS_ADDRESS: bus.address },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    errors += part;
  });
  const ended = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (ended !== 0) throw new Error(errors);
}

/** The program as root, without a session's environment; what it printed last. */
function start(
  t: Test,
  env: Readonly<Record<string, string>>,
): { readonly child: ChildProcess; readonly last: () => string } {
  const child = spawn(programPath('active_user_test'), { env, stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    said += part;
  });
  return { child, last: () => said.trimEnd().split('\n').at(-1) ?? '' };
}

// Users that every Debian has: dbus-daemon turns away users that are not in /etc/passwd.
const ANNA = 5;
const BERT = 6;

t.setTimeout(240_000);
t.test("[6.root] the bus of the active user, with that user's ids while it connects", { skip }, async (t) => {
  const bus = await PrivateBus.start();
  t.teardown(() => bus.stop());
  const folders = { anna: path.join(bus.folder, 'anna'), bert: path.join(bus.folder, 'bert') };
  const anna = await startUserBus(t, folders.anna, ANNA);
  const bert = await startUserBus(t, folders.bert, BERT);
  const service = start(t, { DBUS_SYSTEM_BUS_ADDRESS: bus.address });
  const becomes = async (what: string, wanted: string | RegExp) => {
    const isThere = () =>
      typeof wanted === 'string' ? service.last() === wanted : wanted.test(service.last());
    await until(`${what}: still "${service.last()}"`, isThere).catch(() => undefined);
    t.match(service.last(), wanted, what);
  };

  await becomes('no logind', /^none: no user's session bus: logind does not report the active user/);
  await bus.startLogind();
  await changeLogind(
    bus,
    `logind.AddSession('a', 'seat0', dbus.UInt32(${ANNA}), 'anna', True)
user(${ANNA}, '${folders.anna}')
logind.AddSession('b', 'seat0', dbus.UInt32(${BERT}), 'bert', True)
user(${BERT}, '${folders.bert}')
logind.AddSession('g', 'seat0', dbus.UInt32(120), 'gdm', True)
session('g', 'Class', 'greeter')
active('a')`,
  );
  await becomes('anna sits there', `bus ${anna} as 0:0`);
  const switchedMs = performance.now();
  await changeLogind(bus, "active('b')");
  await becomes('bert takes over', `bus ${bert} as 0:0`);
  t.comment(
    `figure: session bus of the other user ${(performance.now() - switchedMs).toFixed(0)} ms after logind switched`,
  );
  await changeLogind(bus, "active('g')");
  await becomes(
    'a greeter',
    "none: no user's session bus: the active session does not belong to a user as 0:0",
  );
  await changeLogind(bus, "session('a', 'Remote', True)\nactive('a')");
  await becomes(
    'somebody far away',
    "none: no user's session bus: the active session does not belong to a user as 0:0",
  );
  await changeLogind(bus, "active('')");
  await becomes('nobody', "none: no user's session bus: nobody is logged in at this machine as 0:0");
  await changeLogind(bus, "session('a', 'Remote', False)\nactive('a')");
  await becomes('anna is back', `bus ${anna} as 0:0`);
  await bus.stopLogind();
  await bus.restart();
  await becomes('a system bus that is restarted costs nobody the session', `bus ${anna} as 0:0`);
  service.child.stdin?.end();
});

t.test('[6.root] an address that is set is used as it is, also by root', { skip }, async (t) => {
  const bus = await PrivateBus.start();
  t.teardown(() => bus.stop());
  const folder = path.join(bus.folder, 'anna');
  await startUserBus(t, folder, ANNA);
  await bus.startLogind();
  const env = { DBUS_SYSTEM_BUS_ADDRESS: bus.address };
  for (const set of [{ DBUS_SESSION_BUS_ADDRESS: `unix:path=${folder}/bus` }, { XDG_RUNTIME_DIR: folder }]) {
    const service = start(t, { ...env, ...set });
    await until('an answer', () => service.last() !== '');
    // The daemon turns root away, which is what these two configurations ask for.
    t.match(service.last(), /^none: cannot connect to unix:path=.*\/anna\/bus: Connection reset by peer/);
    service.child.stdin?.end();
  }
});
