/** `hostwire doctor` on what sends events to subscribers, by engine and by what the kernel permits; and on power. */
import { execFileSync, spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import type { Finding } from '#src/host/finding.js';
import { openNativeHost } from '#src/host/native.js';
import { EventStream } from '../../../helpers/clients/event-stream.ts';
import { missingForBus, PrivateBus } from '../../../helpers/dbus/bus.ts';
import { needProgram, programPath } from '../../../helpers/native/program.ts';
import { DEAD_BUSES } from '../../../helpers/service/dead-buses.ts';
import { runToEnd, serveProgram } from '../../../helpers/service/service.ts';

needProgram('refuse_io_uring');

const REFUSE = programPath('refuse_io_uring');
const MAIN = path.resolve(import.meta.dirname, '../../../../../../dist/main.js');
const RING = { subject: 'streams', source: 'io_uring', status: 'works', reason: null, remedy: null } as const;
/** The row that the program prints, started by `command`. */
function rowOf(t: Test, ...command: readonly string[]): Finding | undefined {
  const [program = '', ...args] = [...command, process.execPath, MAIN, 'doctor', '--json'];
  const env = { ...process.env, ...DEAD_BUSES };
  const place = ['--host', '127.0.0.1', '--port', '0'];
  const text = execFileSync(program, [...args, ...place], { cwd: t.testdir(), env, encoding: 'utf8' });
  return (JSON.parse(text) as readonly Finding[]).find(({ subject }) => subject === 'streams');
}

const SENT = 'send: one system call per subscriber';

t.test('[9.doctor-streams] io_uring where the kernel permits it', async (t) => {
  const skip = openNativeHost().streams?.findMethod() !== 'io_uring' && 'the kernel refuses io_uring here';
  const source = 'io_uring: one system call for up to 128 subscribers';
  if (skip) t.pass(source, { skip });
  else t.strictSame(rowOf(t), { ...RING, source });
});

t.test('[9.doctor-streams] send where the kernel refuses io_uring, and why', async (t) => {
  const { EPERM, ENOSYS } = constants.errno;
  t.match(rowOf(t, REFUSE, String(EPERM)), {
    status: 'partly',
    source: SENT,
    reason: /^io_uring is not used: io_uring_setup failed with EPERM/,
    remedy: /io_uring/,
  });
  t.strictSame(rowOf(t, REFUSE, String(ENOSYS)), {
    subject: 'streams',
    status: 'partly',
    source: SENT,
    reason: 'io_uring is not used: io_uring_setup failed with ENOSYS',
    remedy: null,
  });
});

t.test('[9.doctor-streams] subscribers get their events without io_uring', async (t) => {
  const service = await serveProgram(t, {
    config: { stats: { stream_interval_seconds: 1 } },
    start: (command, args, how) => spawn(REFUSE, [String(constants.errno.EPERM), command, ...args], how),
  });
  const stream = await EventStream.openIn(t, service.port);
  for (let event = 0; event < 3; event++) await stream.next();
  t.pass('three events');
});

t.test('[9.doctor-power] on a bus', { skip: missingForBus() }, async (t) => {
  const bus = await PrivateBus.start();
  t.teardown(() => bus.stop());
  const doctor = async () => {
    const env = { DBUS_SYSTEM_BUS_ADDRESS: bus.address };
    const args = ['doctor', '--host', '127.0.0.1', '--port', '0'];
    const { code, stdout } = await runToEnd(args, { power: { backend: 'system' } }, [], env);
    t.equal(code, 0);
    return stdout;
  };
  t.match(
    await doctor(),
    /^power +missing +unix:path=.*\n +why: neither logind nor systemd's manager.*\n +try: install libsystemd0/m,
  );
  await bus.startLogind({ CanHibernate: 'na', sessions: [['c1', 0, 'seat0']] });
  const text = await doctor();
  t.match(text, new RegExp(`^power +ok +logind on ${bus.address}$`, 'm'));
  t.match(text, /^shutdown +partly +possible\n +why: features\.enable_shutdown is off/m);
  t.match(text, /^sleep +ok +possible$/m);
  t.match(
    text,
    /^hibernate +missing +not possible\n +why: logind reports that this machine cannot do it \(na/m,
  );
  t.match(text, /^lock +ok/m);
});
