/** Power commands (decisions, part 5) with a clock that the test owns: when an act is handed over, and when never. */
import t from 'tap';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { PowerRig } from '../helpers/fakes/power.ts';

const OK = { status: 'ok', message: 'Command initiated' };

t.test(
  '[5.answer-first] nothing is done before the answer, nor for 100 ms after its bytes have left',
  async (t) => {
    const rig = new PowerRig();
    const { power, backend, clock } = rig;
    const outcome = await rig.ask('sleep');
    t.strictSame(outcome.result, OK);
    await clock.advance(30);
    outcome.onDelivered?.('sent');
    await clock.advance(99.9);
    t.strictSame(backend.acts, [], 'not within 100 ms');
    await clock.advance(0.1);
    t.strictSame(backend.acts, [{ action: 'sleep', isForced: false, atMs: 130 }], 'then at once');
    t.equal(clock.timers, 0);
    t.strictSame((await power.status()).pending, null);
  },
);

t.test('[5.answer-closed] a connection that has closed is waited for no longer', async (t) => {
  const rig = new PowerRig();
  const { backend, clock } = rig;
  const outcome = await rig.ask('restart');
  await clock.advance(7);
  t.strictSame(backend.acts, []);
  outcome.onDelivered?.('closed');
  t.strictSame(backend.acts, [{ action: 'restart', isForced: false, atMs: 7 }]);
});

t.test(
  '[5.latest-500ms] an answer whose delivery is never reported delays the act by 500 ms at most',
  async (t) => {
    const rig = new PowerRig();
    const { backend, clock } = rig;
    await rig.ask('sleep');
    await clock.advance(450);
    t.strictSame(backend.acts, []);
    await clock.advance(50);
    t.equal(backend.acts.length, 1);

    const late = await rig.ask('sleep');
    await clock.advance(450);
    late.onDelivered?.('sent');
    await clock.advance(50);
    t.equal(backend.acts.length, 2, 'not even when it left in the last moment');
  },
);

t.test('[5.latest-500ms] a client that asks again and again does not postpone it', async (t) => {
  const rig = new PowerRig();
  const { backend, clock } = rig;
  for (let i = 0; i < 10; i++) {
    await rig.askAndSend('sleep');
    t.equal(backend.acts.length, i < 6 ? 0 : 1);
    await clock.advance(80);
  }
  t.equal(backend.acts[0]?.atMs, 480);
});

t.test(
  '[5.answer-first] a client that asks at the last moment is still answered before the act',
  async (t) => {
    const rig = new PowerRig();
    const { backend, clock } = rig;
    await rig.ask('sleep');
    await clock.advance(479);
    const late = await rig.ask('sleep');
    await clock.advance(3);
    t.strictSame(backend.acts, []);
    late.onDelivered?.('sent');
    t.strictSame(
      backend.acts,
      [{ action: 'sleep', isForced: false, atMs: 482 }],
      'then there is no time to lose',
    );

    await rig.ask('restart');
    await clock.advance(479);
    await rig.ask('restart');
    await clock.advance(19.9);
    t.equal(backend.acts.length, 1);
    await clock.advance(0.1);
    t.equal(backend.acts.length, 2, '[5.latest-500ms] and never later than 500 ms');
  },
);

t.test(
  '[5.answer-first] a client that joins an act that has long been waiting is answered before it',
  async (t) => {
    const rig = new PowerRig();
    const { backend, clock } = rig;
    backend.isSlow = true;
    (await rig.ask('sleep')).onDelivered?.('closed');
    await rig.askAndSend('restart');
    await clock.advance(5000);
    const late = await rig.ask('restart');
    backend.finish();
    await clock.advance(1);
    t.strictSame(backend.actions, ['sleep']);
    late.onDelivered?.('sent');
    t.strictSame(backend.actions, ['sleep', 'restart']);
  },
);

t.test(
  '[5.answer-first] a delivery report that comes twice, or after the act, changes nothing',
  async (t) => {
    const rig = new PowerRig();
    const { backend, clock } = rig;
    const first = await rig.ask('sleep');
    const second = await rig.ask('sleep');
    first.onDelivered?.('closed');
    first.onDelivered?.('closed');
    t.strictSame(backend.acts, [], 'the second answer is still under way');
    second.onDelivered?.('closed');
    t.equal(backend.acts.length, 1);
    second.onDelivered?.('sent');
    await clock.advance(1000);
    t.equal(backend.acts.length, 1);

    const again = await rig.ask('restart');
    again.onDelivered?.('sent');
    await clock.advance(50);
    again.onDelivered?.('sent');
    await clock.advance(50);
    t.equal(backend.acts.length, 2, 'nor does it put the act off');
  },
);

t.test(
  '[5.same-once] the same action requested again before its hand-over acts once, after both answers',
  async (t) => {
    const rig = new PowerRig();
    const { backend, clock } = rig;
    await rig.askAndSend('sleep');
    await clock.advance(60);
    const again = await rig.ask('sleep');
    t.strictSame(again.result, OK);
    await clock.advance(60);
    t.strictSame(backend.acts, [], 'the second answer has not left');
    again.onDelivered?.('sent');
    await clock.advance(99);
    t.strictSame(backend.acts, []);
    await clock.advance(1000);
    t.strictSame(backend.acts, [{ action: 'sleep', isForced: false, atMs: 220 }]);

    await rig.askAndSend('sleep');
    await clock.advance(100);
    t.equal(backend.acts.length, 2, 'asked after the hand-over it acts again');
  },
);

t.test('[5.same-once] force on one request is force on both', async (t) => {
  const rig = new PowerRig();
  const { backend, clock } = rig;
  await rig.askAndSend('sleep', { force: true });
  await rig.askAndSend('sleep');
  await rig.askAndSend('restart');
  await rig.askAndSend('restart', { force: true });
  await rig.askAndSend('lock');
  await clock.advance(100);
  t.strictSame(
    backend.acts.map(({ action, isForced }) => [action, isForced]),
    [
      ['sleep', true],
      ['restart', true],
      ['lock', false],
    ],
  );
});

t.test('[5.in-order] acts are handed over in the order in which they were accepted', async (t) => {
  const rig = new PowerRig();
  const { backend, clock } = rig;
  const sleep = await rig.ask('sleep');
  const restart = await rig.ask('restart');
  const hibernate = await rig.ask('hibernate');
  hibernate.onDelivered?.('closed');
  restart.onDelivered?.('sent');
  await clock.advance(150);
  t.strictSame(backend.actions, [], 'the first one holds up the others');
  sleep.onDelivered?.('sent');
  await clock.advance(100);
  t.strictSame(backend.actions, ['sleep', 'restart', 'hibernate']);
});

t.test('[5.one-at-a-time] the next act waits for the one before', async (t) => {
  const rig = new PowerRig();
  const { backend, clock } = rig;
  backend.isSlow = true;
  for (const action of ['sleep', 'shutdown']) (await rig.ask(action)).onDelivered?.('closed');
  await clock.advance(10_000);
  t.strictSame(backend.actions, ['sleep']);
  t.strictSame(rig.feedback, []);
  backend.finish();
  await clock.advance(0);
  t.strictSame(backend.actions, ['sleep', 'shutdown']);
  backend.finish();
  await clock.advance(0);
  t.strictSame(rig.feedback, [
    { action: 'sleep', success: true, message: 'Done' },
    { action: 'shutdown', success: true, message: 'Done' },
  ]);
});

t.test('[5.wake-drops] actions still queued when the machine wakes are dropped', async (t) => {
  const rig = new PowerRig();
  const { power, backend, clock } = rig;
  backend.isSlow = true;
  (await rig.ask('sleep')).onDelivered?.('closed');
  await rig.askAndSend('hibernate');
  await rig.askAndSend('sleep');
  await clock.advance(200);
  power.drop();
  backend.finish();
  await clock.advance(10_000);
  t.strictSame(backend.actions, ['sleep'], 'only what made it sleep');
  t.strictSame(rig.feedback, [
    {
      action: 'hibernate',
      success: false,
      message: 'hibernate was not carried out: the machine has only just woken',
    },
    {
      action: 'sleep',
      success: false,
      message: 'sleep was not carried out: the machine has only just woken',
    },
    { action: 'sleep', success: true, message: 'Done' },
  ]);
  t.ok(
    rig.log.includes('hostwire error: power: hibernate was not carried out: the machine has only just woken'),
  );
  backend.isSlow = false;
  await rig.askAndSend('restart');
  await clock.advance(100);
  t.strictSame(backend.actions, ['sleep', 'restart'], 'what is asked afterwards is done');
});

t.test('[5.wake-drops] a queue that waits for its deadline is emptied too', async (t) => {
  const rig = new PowerRig();
  const { power, backend, clock } = rig;
  await rig.askAndSend('sleep');
  power.drop();
  t.equal(clock.timers, 0);
  await clock.advance(1000);
  t.strictSame(backend.acts, []);
});

t.test(
  '[5.act-fails] an act that fails after its ok is an error in the log and a feedback message',
  async (t) => {
    const rig = new PowerRig();
    const { backend, clock } = rig;
    backend.failure = new Error('Access denied');
    await rig.askAndSend('sleep');
    await rig.askAndSend('restart');
    await clock.advance(100);
    t.strictSame(backend.actions, ['sleep', 'restart'], 'a failure does not hold up the next');
    t.strictSame(rig.feedback, [
      { action: 'sleep', success: false, message: 'sleep failed: Access denied' },
      { action: 'restart', success: false, message: 'restart failed: Access denied' },
    ]);
    t.ok(rig.log.includes('hostwire error: power: sleep failed: Access denied'));
  },
);

t.test('[5.flags-default] by default only sleep, hibernate and lock are allowed', async (t) => {
  const rig = new PowerRig();
  rig.config.features = DEFAULT_CONFIG.features;
  for (const action of ['sleep', 'hibernate', 'lock'])
    t.strictSame((await rig.ask(action)).result, OK, action);
  for (const action of ['shutdown', 'restart'])
    await t.rejects(rig.ask(action), { code: 'feature_disabled' }, action);
});

t.test('[5.flags] each action has its flag; sleep and lock share one; cancel has none', async (t) => {
  const flags = {
    shutdown: 'enable_shutdown',
    restart: 'enable_restart',
    sleep: 'enable_sleep',
    hibernate: 'enable_hibernate',
    lock: 'enable_sleep',
  };
  for (const off of new Set(Object.values(flags))) {
    const rig = new PowerRig();
    rig.config.features = { ...rig.config.features, [off]: false };
    for (const [action, flag] of Object.entries(flags)) {
      const text = `${action} with ${off} off`;
      if (flag === off) t.equal((await rig.refusal(action)).code, 'feature_disabled', text);
      else t.ok((await rig.ask(action)).onDelivered, text);
    }
    t.strictSame((await rig.ask('cancel')).result, { status: 'ok', message: 'Nothing pending' });
  }
});

t.test('[5.flags] a flag is checked before parameters, support and inhibitors', async (t) => {
  const rig = new PowerRig();
  rig.config.features = { ...rig.config.features, enable_sleep: false };
  rig.backend.unsupported.set('sleep', 'no');
  t.equal((await rig.refusal('sleep', { delay: 'x' })).code, 'feature_disabled');
  rig.config.features = { ...rig.config.features, enable_sleep: true };
  t.equal((await rig.refusal('sleep', { delay: 'x' })).code, 'invalid_value', 'then parameters');
  t.equal((await rig.refusal('sleep')).code, 'not_supported', 'then support');
});

t.test('[5.not-supported] an action that the machine cannot do is refused with the reason', async (t) => {
  const rig = new PowerRig();
  rig.backend.unsupported.set('hibernate', 'there is no swap');
  for (const params of [{}, { force: true }, { delay: 5 }]) {
    const error = await rig.refusal('hibernate', params);
    t.equal(error.status, 501);
    t.equal(error.code, 'not_supported');
    t.equal(error.message, 'This machine cannot hibernate.');
    t.strictSame(error.details, { reason: 'there is no swap' });
  }
  await rig.clock.advance(10_000);
  t.strictSame(rig.backend.acts, []);
});

t.test('[5.never-409] plain calls are answered, whatever is queued, under way or scheduled', async (t) => {
  const rig = new PowerRig();
  const { backend, clock } = rig;
  backend.isSlow = true;
  await rig.ask('shutdown', { delay: 1000 });
  (await rig.ask('sleep')).onDelivered?.('closed');
  for (const action of ['sleep', 'sleep', 'shutdown', 'restart', 'hibernate', 'lock', 'shutdown'])
    t.strictSame((await rig.ask(action, { delay: 0 })).result, OK);
  await clock.advance(500);
  for (let i = 0; i < 5; i++) {
    backend.finish();
    await clock.advance(0);
  }
  t.strictSame(backend.actions, ['sleep', 'sleep', 'shutdown', 'restart', 'hibernate', 'lock']);
});

t.test('[5.root-inhibitor] an inhibitor of root blocks an action, unless forced', async (t) => {
  const rig = new PowerRig();
  const { backend, clock } = rig;
  backend.present = [
    { who: 'player', why: 'playing', what: 'idle:sleep', uid: 1000 },
    { who: 'apt', why: 'upgrading', what: 'shutdown:handle-power-key', uid: 0 },
  ];
  for (const action of ['shutdown', 'restart'])
    for (const params of [{}, { delay: 60 }]) {
      const error = await rig.refusal(action, params);
      t.equal(error.status, 409);
      t.equal(error.code, 'not_possible_now');
      t.equal(error.message, 'apt inhibits shutdown: upgrading');
      t.strictSame(error.details, { who: 'apt', why: 'upgrading' });
    }
  t.strictSame((await rig.ask('hibernate')).result, OK, 'it holds up only what it names');
  await rig.askAndSend('shutdown', { force: true });
  await clock.advance(500);
  t.strictSame(
    backend.acts.map(({ action, isForced }) => [action, isForced]),
    [
      ['hibernate', false],
      ['shutdown', true],
    ],
  );
  t.ok(rig.log.includes('hostwire warn: power: shutdown overrides the inhibitor of apt (uid 0): upgrading'));
});

t.test("[5.user-inhibitor] a user's inhibitor is overridden, and that is logged", async (t) => {
  const rig = new PowerRig();
  const { backend, clock } = rig;
  backend.present = [
    { who: 'player', why: 'playing', what: 'sleep:idle', uid: 1000 },
    { who: 'tool', why: 'presenting', what: 'idle', uid: 0 },
    { who: 'lid', why: 'docked', what: 'handle-lid-switch', uid: 0 },
  ];
  for (const action of ['sleep', 'hibernate', 'lock', 'restart']) await rig.askAndSend(action);
  await clock.advance(100);
  t.strictSame(backend.actions, ['sleep', 'hibernate', 'lock', 'restart']);
  t.strictSame(
    rig.log.filter((line) => line.includes('overrides')),
    [
      'hostwire warn: power: sleep overrides the inhibitor of player (uid 1000): playing',
      'hostwire warn: power: hibernate overrides the inhibitor of player (uid 1000): playing',
    ],
  );
});
