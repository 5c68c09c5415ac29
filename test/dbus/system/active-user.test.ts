/** The bus that a service reaches: of the user at the machine, or of the address that is set, and no other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { missingForBus, PrivateBus, until } from '../../helpers/dbus/bus.ts';
import { changeLogind, startUserBus } from '../../helpers/dbus/user-bus.ts';
import { programPath, whyNoProgram } from '../../helpers/native/program.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { startService } from '../../helpers/service/service.ts';

const skip =
  missingForBus() ||
  whyNoProgram('active_user_test') ||
  (process.getuid?.() !== 0 && 'only root may take the ids of others');

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
    'a remote user',
    "none: no user's session bus: the active session does not belong to a user as 0:0",
  );
  await changeLogind(bus, "active('')");
  await becomes('no user', "none: no user's session bus: no user is logged in at this machine as 0:0");
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

t.test(
  '[5.no-other-bus] an address that is set and leads nowhere is the only one tried',
  { skip: (process.platform !== 'linux' && 'for Linux') || (!existsSync('/usr/bin/strace') && 'no strace') },
  async (t) => {
    const folder = emptyFolder(t, 'trace');
    const trace = path.join(folder, 'trace');
    const service = await startService({
      config: { power: { backend: 'system' } },
      start: (command, args, how) =>
        spawn('/usr/bin/strace', ['-f', '-qq', '-e', 'trace=connect', '-o', trace, command, ...args], how),
    });
    const answer = await fetch(`${service.baseUrl}/api/pw/sleep`, { method: 'POST' });
    t.equal(answer.status, 501);
    await fetch(`${service.baseUrl}/api/pw`);
    // Long enough for another attempt.
    await sleep(2000);
    // strace forwards no signal to the program it traces, so this ends the children of its child.
    const [child] = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
      .trim()
      .split(' ');
    process.kill(Number(child), 'SIGTERM');
    await service.stop('SIGCONT');
    const local = readFileSync(trace, 'utf8').match(/AF_UNIX, sun_path=@?"[^"]*"/g) ?? [];
    t.ok(local.length >= 2, `${local.length} attempts`);
    t.strictSame([...new Set(local)], ['AF_UNIX, sun_path="/dev/null/no-bus"']);
  },
);
