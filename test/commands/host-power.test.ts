/** The backend that asks the machine: when a sleep counts as over, and its reasons when the machine gives none. */
import t, { type Test } from 'tap';
import { HostPower } from '#src/commands/host-power.js';
import type { PowerAction, PowerHost, PowerNotice } from '#src/host/power.js';
import { createLog } from '#src/log/log.js';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';

class FakeHost implements PowerHost {
  readonly acts: PowerAction[] = [];
  delays = 0;
  failure: Error | undefined;
  listener: ((notice: PowerNotice | null) => void) | undefined;

  async support() {
    return { isSupported: false, reason: null };
  }
  async act(act: PowerAction) {
    this.acts.push(act);
    if (this.failure !== undefined) throw this.failure;
  }
  async inhibitors(): Promise<readonly never[]> {
    throw new Error('logind does not answer');
  }
  async delaySleep() {
    this.delays += 1;
    throw new Error('logind does not answer');
  }
  allowSleep() {
    this.delays -= 1;
  }
  onNotice(listener: (notice: PowerNotice | null) => void) {
    this.listener = listener;
    return () => {
      this.listener = undefined;
    };
  }
}

function rig(t: Test) {
  const host = new FakeHost();
  const clock = new FakeClock();
  const lines: string[] = [];
  const woken: string[] = [];
  const log = createLog((line) => lines.push(line.trim()), 'info');
  const power = new HostPower({ host, clock, log });
  power.onNotice((notice) => {
    if (notice === null) woken.push(`at ${clock.now()}`);
  });
  t.teardown(() => power.close());
  /** Whether the act is over. */
  const act = (action: PowerAction) => {
    const state = { isOver: false, failure: '' };
    power.act(action, { isForced: false }).then(
      () => {
        state.isOver = true;
      },
      (error: Error) => {
        state.failure = error.message;
      },
    );
    return state;
  };
  return { host, clock, lines, woken, power, act };
}

t.test('[5.one-at-a-time] a sleep is over when the machine has woken', async (t) => {
  const { host, clock, woken, act } = rig(t);
  const state = act('sleep');
  await clock.advance(5000);
  host.listener?.('sleep');
  await clock.advance(20_000);
  t.notOk(state.isOver, 'asleep');
  host.listener?.(null);
  await settle();
  t.ok(state.isOver, 'awake');
  t.strictSame(woken, ['at 26000']);
  t.equal(clock.timers, 0);
});

t.test('[5.one-at-a-time] a sleep whose signals do not come holds up nothing for long', async (t) => {
  const { host, clock, act } = rig(t);
  const never = act('hibernate');
  await clock.advance(5999);
  t.notOk(never.isOver);
  await clock.advance(1);
  t.ok(never.isOver, 'it did not begin');
  const lost = act('sleep');
  await settle();
  host.listener?.('sleep');
  await clock.advance(29_999);
  t.notOk(lost.isOver);
  await clock.advance(1);
  t.ok(lost.isOver, 'its end was missed');
  t.equal(clock.timers, 0);
});

t.test(
  '[5.act-fails] a refused sleep is over immediately, an act without a wake-up as soon as it was accepted',
  async (t) => {
    const { host, clock, act } = rig(t);
    host.failure = new Error('logind refuses: no');
    const refused = act('sleep');
    await settle();
    t.equal(refused.failure, 'logind refuses: no');
    t.equal(clock.timers, 0);
    host.failure = undefined;
    const restart = act('restart');
    await settle();
    t.ok(restart.isOver);
    t.strictSame(host.acts, ['sleep', 'restart'], 'each once');
  },
);

t.test('[5.wake-drops] a sleep that another program started is noticed too', async (t) => {
  const { host, woken, lines } = rig(t);
  host.listener?.('sleep');
  t.strictSame(woken, []);
  host.listener?.(null);
  t.equal(woken.length, 1);
  t.strictSame(lines, [
    'hostwire info: power: the machine is going to sleep',
    'hostwire info: power: the machine has woken',
  ]);
});

t.test(
  '[5.not-supported] a reason is always given; inhibitors that cannot be read count as none',
  async (t) => {
    const { power, lines, host } = rig(t);
    t.strictSame(await power.support('sleep'), {
      isSupported: false,
      reason: 'the power manager reported no reason',
    });
    t.strictSame(await power.inhibitors(), []);
    t.match(lines.at(-1), /warn: power: cannot read inhibitors: logind does not answer/);
    power.close();
    t.equal(host.listener, undefined, 'nothing is listened to after the end');
  },
);

t.test('[5.sleep-delay] a sleep that cannot be delayed is one line, and no error', async (t) => {
  const { host, power, lines } = rig(t);
  await power.delaySleep('for a test');
  await power.delaySleep('for a test');
  t.equal(host.delays, 2);
  t.same(
    lines.filter((line) => /delay/.test(line)).map((line) => line.replace(/.*power/, 'power')),
    ['power: cannot delay sleep: logind does not answer'],
  );
  power.allowSleep();
  t.equal(host.delays, 1);
});
