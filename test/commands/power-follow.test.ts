/** Every caller learns the outcome of a power action; modules that must act before the machine sleeps are notified. */
import t from 'tap';
import type { Follower, Outcome } from '#src/commands/command.js';
import { HostPower } from '#src/commands/host-power.js';
import { type Plan, Power } from '#src/commands/power.js';
import type { PowerFeedback } from '#src/commands/power-queue.js';
import type { PowerNotice } from '#src/host/power.js';
import { createLog } from '#src/log/log.js';
import type { Params } from '#src/params.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { EVERYTHING_ON, PowerRig } from '../helpers/fakes/power.ts';
import { SENDER } from '../helpers/fakes/sender.ts';

class Rig extends PowerRig {
  /** The stages that each follower was notified of: `1 running`. */
  readonly steps: string[] = [];
  readonly followers = [0, 1, 2].map(
    (i): Follower => ({
      owner: this,
      onStep: ({ stage, message }) =>
        this.steps.push(`${i} ${stage}${stage === 'failed' ? `: ${message}` : ''}`),
    }),
  );

  async askAs(who: number, action: string, params: Params = {}): Promise<Outcome> {
    const run = this.commands.prepare(`power.${action}`, params, SENDER);
    const outcome = await run(this.followers[who]);
    outcome.onDelivered?.('sent');
    return outcome;
  }
}

t.test('[7.power-follow] running at the hand-over, done when it has ended', async (t) => {
  const rig = new Rig();
  rig.backend.isSlow = true;
  const { isFollowed } = await rig.askAs(0, 'sleep');
  t.equal(isFollowed, true);
  t.strictSame(rig.steps, []);
  await rig.clock.advance(100);
  t.strictSame(rig.steps, ['0 running']);
  rig.backend.finish();
  await rig.clock.advance(0);
  t.strictSame(rig.steps, ['0 running', '0 done']);
});

t.test('[7.power-follow] the same act requested by several callers: each is notified', async (t) => {
  const rig = new Rig();
  await Promise.all([0, 1].map((who) => rig.askAs(who, 'restart')));
  await rig.clock.advance(100);
  t.strictSame(rig.backend.actions, ['restart']);
  t.strictSame(rig.steps, ['0 running', '1 running', '0 done', '1 done']);
});

t.test(
  '[7.power-follow] an act that fails: the reason; and the feedback names the followers that already have it',
  async (t) => {
    const rig = new Rig();
    rig.backend.failure = new Error('no power');
    await rig.askAs(0, 'sleep');
    await rig.clock.advance(100);
    t.strictSame(rig.steps, ['0 running', '0 failed: sleep failed: no power']);
    const expected: PowerFeedback = { action: 'sleep', success: false, message: 'sleep failed: no power' };
    t.strictSame(rig.feedback, [expected]);
    t.equal(rig.heard.length, 1);
    t.ok([...(rig.heard[0] ?? [])].every(({ owner }) => owner === rig));
  },
);

t.test('[7.power-follow] a scheduled act: running and done when due, or cancelled, or failed', async (t) => {
  const rig = new Rig();
  await rig.askAs(0, 'sleep', { delay: 10 });
  await rig.clock.advance(10_100);
  t.strictSame(rig.steps.splice(0), ['0 running', '0 done']);
  await rig.askAs(1, 'sleep', { delay: 10 });
  await rig.askAs(2, 'cancel');
  t.strictSame(rig.steps.splice(0), ['1 cancelled']);
  await rig.askAs(0, 'sleep', { delay: 10 });
  rig.config.features = { ...rig.config.features, enable_sleep: false };
  await rig.clock.advance(10_100);
  t.strictSame(rig.steps.splice(0), [
    '0 failed: the scheduled sleep was not carried out: it was disabled before it was due',
  ]);
  rig.config.features = { ...rig.config.features, enable_sleep: true };
  await rig.askAs(0, 'sleep', { delay: 10 });
  await rig.askAs(1, 'restart');
  rig.power.close();
  t.strictSame(
    rig.steps.splice(0).map((step) => step.slice(0, 8)),
    ['1 failed', '0 failed'],
    'at a shutdown too',
  );
});

t.test('each change of power is reported: scheduled, cancelled, due, ended', async (t) => {
  const rig = new Rig();
  const changes = () => {
    const { changed } = rig;
    rig.changed = 0;
    return changed;
  };
  await rig.askAs(0, 'sleep', { delay: 10 });
  t.equal(changes(), 1);
  await rig.askAs(0, 'cancel');
  t.equal(changes(), 1);
  await rig.askAs(0, 'cancel');
  t.equal(changes(), 0, 'nothing was pending');
  await rig.askAs(0, 'sleep', { delay: 10 });
  await rig.clock.advance(10_000);
  t.equal(changes(), 3, 'scheduled, no longer pending, recorded');
});

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
