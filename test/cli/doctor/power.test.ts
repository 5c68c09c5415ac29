/** `hostwire doctor` on power: what it makes of answers, and the command on a bus of the test's own. */
import t from 'tap';
import { examinePower, judgePower, type PowerFindings } from '#src/cli/doctor/power.js';
import { DEFAULT_CONFIG } from '#src/config/schema.js';
import { missingForBus, PrivateBus } from '../../helpers/dbus/bus.ts';
import { runToEnd } from '../../helpers/service/service.ts';

const config = { ...DEFAULT_CONFIG, power: { backend: 'system' as const } };
const YES = { isSupported: true, reason: null };
const LOGIND: PowerFindings = {
  authority: { name: 'logind', reached: 'unix:path=/x', reason: null },
  supports: {
    shutdown: YES,
    restart: YES,
    sleep: YES,
    hibernate: { isSupported: false, reason: 'na' },
    lock: YES,
  },
};
const linesOf = (...args: Parameters<typeof judgePower>) =>
  judgePower(...args).map(({ section, state, source, reason = '', remedy = '' }) =>
    [section, state, source, reason, remedy].join(' | '),
  );

t.test('[9.doctor-power] who is asked and what each action gets for an answer', async (t) => {
  t.strictSame(linesOf(LOGIND, config), [
    'power | ok | logind on unix:path=/x |  | ',
    'shutdown | partly | possible | features.enable_shutdown is off | set features.enable_shutdown to true',
    'restart | partly | possible | features.enable_restart is off | set features.enable_restart to true',
    'sleep | ok | possible |  | ',
    'hibernate | missing | not possible | na | ',
    'lock | ok | possible |  | ',
  ]);
  const authority = { name: null, reached: '', reason: 'there is no system bus: why' };
  const [nobody, ...more] = linesOf({ ...LOGIND, authority }, config);
  t.match(nobody, /^power \| missing \| no system bus \| there is no system bus: why \| install libsystemd0/);
  t.strictSame(more, []);
  t.match(linesOf(undefined, config), [/^power \| missing \| none \| not known on this platform/]);
  t.match(linesOf(LOGIND, { ...config, power: { backend: 'record' } }), [
    /^power \| partly \| power.backend is record/,
  ]);
  const refusing = new Proxy({}, { get: () => () => t.fail('asked') });
  // With the recording backend nothing may be asked: any call fails the test.
  await examinePower(refusing as Parameters<typeof examinePower>[0], {
    ...config,
    power: { backend: 'record' },
  });
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
    /^power +missing +unix:path=.*\n +why: there is neither logind nor systemd's manager/m,
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
