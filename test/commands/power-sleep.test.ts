/** Modules that must act before the machine sleeps are notified, whether hostwire or another program suspends it. */
import t from 'tap';
import { HostPower } from '#src/commands/host-power.js';
import { createLog } from '#src/log/log.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { PowerRig } from '../helpers/fakes/power.ts';

t.test(
  '[5.sleep-notice] an own sleep is announced before it is handed over, and its end however it went',
  async (t) => {
    const { power, backend, clock } = new PowerRig();
    const seen: string[] = [];
    power.onPlan((plan) => seen.push(`${plan} after ${backend.acts.length}`));
    const ask = async (action: string) => {
      await power.request(action as 'sleep', { delaySeconds: 0, isForced: false });
      await clock.advance(500);
    };
    await ask('sleep');
    t.same(seen, ['sleep after 0', 'undefined after 1']);
    await ask('hibernate');
    backend.failure = new Error('no swap');
    await ask('hibernate');
    await ask('restart');
    t.same(seen.slice(2), [
      'hibernate after 1',
      'undefined after 2',
      'hibernate after 2',
      'undefined after 3',
      'restart after 3',
      'undefined after 4',
    ]);
    backend.failure = undefined;
    await ask('restart');
    await ask('lock');
    t.same(seen.slice(8), ['restart after 4'], 'the machine ends; locking is no plan');
  },
);

t.test(
  "[5.sleep-notice] a sleep that another program asked for is announced by the machine's signal",
  async (t) => {
    let signal: ((isGoing: boolean) => void) | undefined;
    const host = {
      support: async () => ({ isSupported: true, reason: null }),
      act: async () => undefined,
      inhibitors: async () => [],
      delaySleep: async () => undefined,
      allowSleep: () => undefined,
      onSleep(listener: (isGoing: boolean) => void) {
        signal = listener;
        return () => undefined;
      },
    };
    const power = new HostPower({ host, clock: new FakeClock(), log: createLog(() => undefined) });
    const seen: string[] = [];
    power.onSleep(() => seen.push('sleeps'));
    power.onWake(() => seen.push('wakes'));
    signal?.(true);
    signal?.(false);
    t.same(seen, ['sleeps', 'wakes']);
  },
);
