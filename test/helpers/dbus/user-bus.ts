/** Session buses of other users than the one that runs the test, which must be root. */
import { execFile, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import type { PrivateBus } from './bus.ts';
import { startDaemon } from './daemon.ts';

const execute = promisify(execFile);

/** A user's session bus as dbus-daemon runs it: for that user alone. Returns its id, as GetId reports it. */
export async function startUserBus(t: Test, folder: string, uid: number): Promise<string> {
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
  const daemon = await startDaemon(config, { uid, gid: uid });
  t.teardown(() => daemon.kill('SIGKILL'));
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
export async function changeLogind(bus: PrivateBus, code: string): Promise<void> {
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
