/** Additions of power commands to the contract: delay, cancel, force, the overview; with a clock that the test owns. */
import t from 'tap';
import type { Support } from '#src/commands/power-backend.js';
import { PowerRig } from '../helpers/fakes/power.ts';

const OK = { status: 'ok', message: 'Command initiated' };
const START = 1_700_000_000;

t.test('[5.delay] a delayed action is answered immediately and done when it is due', async (t) => {
  const rig = new PowerRig();
  const { power, backend, clock } = rig;
  const outcome = await rig.ask('restart', { delay: 90.5, force: true });
  t.strictSame(outcome, { result: OK, isFollowed: true }, 'no act follows this answer');
  t.strictSame((await power.status()).pending, { action: 'restart', at: START + 91 });
  await clock.advance(90_499);
  t.strictSame(backend.acts, []);
  await clock.advance(1);
  t.strictSame(backend.acts, [{ action: 'restart', isForced: true, atMs: 90_500 }]);
  t.equal((await power.status()).pending, null);
  t.strictSame(rig.feedback, [{ action: 'restart', success: true, message: 'Done' }]);
  t.equal(clock.timers, 0);
});

t.test('[5.delay-range] a delay is a number from 0 to 86400', async (t) => {
  const rig = new PowerRig();
  for (const delay of [
    -1,
    -0.001,
    86_400.001,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '5',
    '',
    null,
    true,
    [5],
    {},
  ]) {
    const error = await rig.refusal('sleep', { delay });
    t.equal(error.status, 400, JSON.stringify(delay));
    t.equal(error.code, 'invalid_value');
  }
  t.equal((await rig.power.status()).pending, null);
  await rig.ask('sleep', { delay: 86_400 });
  t.strictSame((await rig.power.status()).pending, { action: 'sleep', at: START + 86_400 });
  await rig.ask('cancel');
  t.ok((await rig.ask('sleep', { delay: 0 })).onDelivered, 'no delay at all');
  t.notOk((await rig.ask('sleep', { delay: 0.001 })).onDelivered, 'the shortest delay');
});

t.test('[5.force] force is a boolean', async (t) => {
  const rig = new PowerRig();
  for (const force of ['1', 1, 0, null, 'yes', [true]]) {
    const error = await rig.refusal('sleep', { force });
    t.equal(error.status, 400, JSON.stringify(force));
    t.equal(error.code, 'invalid_value');
  }
  await rig.askAndSend('sleep', { force: false });
  await rig.clock.advance(100);
  t.strictSame(rig.backend.acts, [{ action: 'sleep', isForced: false, atMs: 100 }]);
});

t.test(
  '[5.power-pending] only a delayed action, and only against a scheduled one, is a conflict',
  async (t) => {
    const rig = new PowerRig();
    await rig.ask('shutdown', { delay: 60 });
    for (const action of ['sleep', 'shutdown', 'lock']) {
      const error = await rig.refusal(action, { delay: 1 });
      t.equal(error.status, 409);
      t.equal(error.code, 'power_pending');
      t.strictSame(error.details, { action: 'shutdown', at: START + 60 });
    }
    t.strictSame((await rig.power.status()).pending, { action: 'shutdown', at: START + 60 });
    await rig.clock.advance(60_000);
    t.strictSame(rig.backend.actions, ['shutdown'], 'the refused ones left nothing behind');
    t.strictSame((await rig.ask('sleep', { delay: 1 })).result, OK, 'then the next may be scheduled');
  },
);

t.test('[5.power-pending] two that arrive together: one is scheduled', async (t) => {
  const rig = new PowerRig();
  const [first, second] = await Promise.allSettled([
    rig.ask('sleep', { delay: 10 }),
    rig.ask('restart', { delay: 5 }),
  ]);
  t.equal(first?.status, 'fulfilled');
  t.equal(second?.status, 'rejected');
  await rig.clock.advance(60_000);
  t.strictSame(rig.backend.actions, ['sleep']);
});

t.test('[5.cancel] cancel withdraws the scheduled action, and says when there is none', async (t) => {
  const rig = new PowerRig();
  t.strictSame(await rig.ask('cancel'), { result: { status: 'ok', message: 'Nothing pending' } });
  await rig.ask('shutdown', { delay: 60 });
  t.strictSame(await rig.ask('cancel'), { result: { status: 'ok', message: 'Cancelled shutdown' } });
  t.equal((await rig.power.status()).pending, null);
  t.equal(rig.clock.timers, 0);
  t.strictSame(await rig.ask('cancel'), { result: { status: 'ok', message: 'Nothing pending' } });
  await rig.clock.advance(120_000);
  t.strictSame(rig.backend.acts, []);
});

t.test(
  '[5.cancel] cancel also withdraws a request that the machine is still being asked about',
  async (t) => {
    const rig = new PowerRig();
    const { backend } = rig;
    let answer: (support: Support) => void = () => undefined;
    backend.support = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const refused = rig.refusal('sleep', { delay: 60 });
    t.strictSame(await rig.ask('cancel'), { result: { status: 'ok', message: 'Cancelled sleep' } });
    t.strictSame(
      await rig.ask('cancel'),
      { result: { status: 'ok', message: 'Cancelled sleep' } },
      'repeatable',
    );
    answer({ isSupported: true, reason: null });
    t.match(await refused, { code: 'not_possible_now', status: 409, message: 'The sleep was cancelled.' });
    t.equal(rig.clock.timers, 0, 'it is not scheduled');
    t.strictSame(await rig.ask('cancel'), { result: { status: 'ok', message: 'Nothing pending' } });
    const other = rig.ask('restart', { delay: 60 });
    answer({ isSupported: true, reason: null });
    t.strictSame((await other).result, OK, 'one that comes later is not cancelled');
  },
);

t.test('[5.cancel] cancel is allowed with every flag off', async (t) => {
  const rig = new PowerRig();
  await rig.ask('shutdown', { delay: 60 });
  rig.config.features = {
    ...rig.config.features,
    enable_sleep: false,
    enable_hibernate: false,
    enable_restart: false,
    enable_shutdown: false,
  };
  t.strictSame(await rig.ask('cancel'), { result: { status: 'ok', message: 'Cancelled shutdown' } });
});

t.test('[5.delay] a scheduled action is checked again when its time has come', async (t) => {
  const cases = [
    {
      why: 'it was disabled before it was due',
      change: (rig: PowerRig) => {
        rig.config.features = { ...rig.config.features, enable_shutdown: false };
      },
    },
    {
      why: 'This machine cannot shutdown.',
      change: (rig: PowerRig) => rig.backend.unsupported.set('shutdown', 'the bus is lost'),
    },
    {
      why: 'apt inhibits shutdown: upgrading',
      change: (rig: PowerRig) => {
        rig.backend.present = [{ who: 'apt', why: 'upgrading', what: 'shutdown', uid: 0 }];
      },
    },
  ];
  for (const { why, change } of cases) {
    const rig = new PowerRig();
    await rig.ask('shutdown', { delay: 60 });
    change(rig);
    await rig.clock.advance(61_000);
    t.strictSame(rig.backend.acts, [], why);
    const message = `the scheduled shutdown was not carried out: ${why}`;
    t.strictSame(rig.feedback, [{ action: 'shutdown', success: false, message }]);
    t.ok(rig.log.includes(`hostwire error: power: ${message}`));
  }
});

t.test('[5.delay] a scheduled action joins a queued one, and waits for the answer to it', async (t) => {
  const rig = new PowerRig();
  await rig.ask('sleep', { delay: 0.05 });
  await rig.askAndSend('sleep');
  await rig.clock.advance(1000);
  t.strictSame(rig.backend.acts, [{ action: 'sleep', isForced: false, atMs: 100 }]);
});

t.test(
  '[5.wake-drops] a scheduled action keeps its wall-clock time through a sleep, or is dropped',
  async (t) => {
    const rig = new PowerRig();
    await rig.ask('shutdown', { delay: 3600 });
    await rig.clock.advance(600_000);
    rig.sleptMs = 1_800_000;
    rig.power.drop();
    t.strictSame((await rig.power.status()).pending, { action: 'shutdown', at: START + 3600 });
    await rig.clock.advance(1_199_999);
    t.strictSame(rig.backend.acts, []);
    await rig.clock.advance(1);
    t.strictSame(rig.backend.actions, ['shutdown'], 'an hour after it was asked');

    await rig.ask('shutdown', { delay: 60 });
    rig.sleptMs += 60_000;
    rig.power.drop();
    t.equal((await rig.power.status()).pending, null);
    t.equal(rig.clock.timers, 0);
    await rig.clock.advance(120_000);
    t.equal(rig.backend.acts.length, 1);
    const message = 'the scheduled shutdown was not carried out: it was due while the machine slept';
    t.strictSame(rig.feedback.at(-1), { action: 'shutdown', success: false, message });
  },
);

t.test('[5.status] the overview has exactly the decided keys', async (t) => {
  const rig = new PowerRig();
  rig.config.features = { ...rig.config.features, enable_restart: false };
  rig.backend.unsupported.set('hibernate', 'there is no swap');
  // A backend may know more about an inhibitor than is shown.
  const held = { who: 'apt', why: 'upgrading', what: 'shutdown', uid: 0, mode: 'block' };
  rig.backend.present = [held];
  const able = { enabled: true, supported: true, reason: null };
  t.strictSame(await rig.power.status(), {
    actions: {
      shutdown: able,
      restart: { ...able, enabled: false },
      sleep: able,
      hibernate: { enabled: true, supported: false, reason: 'there is no swap' },
      lock: able,
    },
    pending: null,
    inhibitors: [{ who: 'apt', why: 'upgrading', what: 'shutdown', uid: 0 }],
    recorded: [],
  });
});

t.test('stopping drops queued and scheduled actions, says so, and accepts no more', async (t) => {
  const rig = new PowerRig();
  await rig.askAndSend('sleep');
  await rig.ask('shutdown', { delay: 60 });
  const asked = rig.ask('restart');
  rig.power.close();
  await t.rejects(asked, { code: 'shutting_down' }, 'also what was being judged');
  t.equal((await rig.refusal('sleep')).status, 503);
  t.equal((await rig.refusal('sleep', { delay: 5 })).status, 503);
  t.equal(rig.clock.timers, 0);
  await rig.clock.advance(120_000);
  t.strictSame(rig.backend.acts, []);
  t.strictSame(rig.feedback, [
    { action: 'sleep', success: false, message: 'sleep was not carried out: the service is shutting down' },
    {
      action: 'shutdown',
      success: false,
      message: 'the scheduled shutdown was not carried out: the service is shutting down',
    },
  ]);
});

t.test('stopping while a scheduled action is being checked', async (t) => {
  const rig = new PowerRig();
  await rig.ask('shutdown', { delay: 1 });
  const moving = rig.clock.advance(1000);
  rig.backend.support = async () => {
    rig.power.close();
    return { isSupported: true, reason: null };
  };
  await moving;
  t.strictSame(rig.backend.acts, []);
  t.strictSame(rig.feedback, [
    {
      action: 'shutdown',
      success: false,
      message: 'the scheduled shutdown was not carried out: the service is shutting down',
    },
  ]);
  t.doesNotThrow(() => rig.power.close(), 'twice');
});
