/** Whether network cards wait for a packet, from the files of a machine. */
import t from 'tap';
import { makeMachine } from '../helpers/machine/tree.ts';
import { link } from './network-tree.ts';

/** A card's power files. */
const card = (name: string, wakeup: string, runtime = 'active') =>
  link(name, { 'device/power/wakeup': wakeup, 'device/power/runtime_status': runtime });

const ELSEWHERE = 'the driver was not asked: the service may be in another network than the machine';
const unasked = { supported: null, armed: null };

t.test('[3.wake-on-lan-setting] the power setting of each card, from any /sys', async (t) => {
  const { host } = makeMachine(t, {
    ...card('eth0', 'enabled'),
    ...card('eth1', 'disabled'),
    ...link('eth2', { 'device/uevent': '' }),
    ...card('eth3', ''),
    ...card('eth4', 'enabled', 'suspended'),
    ...link('veth0', { type: 1 }),
  });
  t.strictSame(await host.readWakeOnLan(), [
    { name: 'eth0', isEnabled: true, ...unasked, failure: ELSEWHERE },
    { name: 'eth1', isEnabled: false, ...unasked, failure: ELSEWHERE },
    { name: 'eth2', isEnabled: null, ...unasked, failure: ELSEWHERE },
    { name: 'eth3', isEnabled: null, ...unasked, failure: ELSEWHERE },
    {
      name: 'eth4',
      isEnabled: true,
      ...unasked,
      failure: 'the card is suspended, and asking its driver would wake it',
    },
  ]);
  t.same(await makeMachine(t, {}).host.readWakeOnLan(), []);
});
