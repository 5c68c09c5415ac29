/** Modules that must act before the machine sleeps are notified, whether hostwire or another program suspends it. */
import t from 'tap';
import { HostPower } from '#src/commands/host-power.js';
import { type Plan, Power } from '#src/commands/power.js';
import type { PowerNotice } from '#src/host/power.js';
import { createLog } from '#src/log/log.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { EVERYTHING_ON, PowerRig } from '../helpers/fakes/power.ts';

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
  '[5.sleep-notice] what another program asked for is announced by the notices of the machine',
  async (t) => {
    let notice: ((notice: PowerNotice | null) => void) | undefined;
    const host = {
      support: async () => ({ isSupported: true, reason: null }),
      act: async () => undefined,
      inhibitors: async () => [],
      delaySleep: async () => undefined,
      allowSleep: () => undefined,
      onNotice(listener: (notice: PowerNotice | null) => void) {
        notice = listener;
        return () => undefined;
      },
    };
    const lines: string[] = [];
    const log = createLog((line) => lines.push(line.trim()));
    const clock = new FakeClock();
    const backend = new HostPower({ host, clock, log });
    const config = new FakeConfig(EVERYTHING_ON);
    const power = new Power({ backend, clock, unixMs: Date.now, config, log });
    const seen: (Plan | undefined)[] = [];
    power.onPlan((plan) => seen.push(plan));
    const all = ['sleep', null, 'shutdown', null, 'restart', null] as const;
    for (const each of all) notice?.(each);
    t.same(
      seen,
      all.map((each) => each ?? undefined),
    );
    t.match(lines, [
      /is going to sleep/,
      /has woken/,
      /is shutting down/,
      /continues: the shutdown was cancelled/,
      /is restarting/,
      /continues/,
    ]);
  },
);
