/** `hostwire doctor` on power: the command on a bus of the test's own. */
import t from 'tap';
import { missingForBus, PrivateBus } from '../../../helpers/dbus/bus.ts';
import { runToEnd } from '../../../helpers/service/service.ts';

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
