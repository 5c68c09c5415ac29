/** Decides which messages are commands: rules that a broker shows rarely, on the clock of the test. */
import t from 'tap';
import type { Caller } from '#src/access/caller.js';
import type { Outcome } from '#src/commands/command.js';
import { ServiceError } from '#src/errors.js';
import { CommandAdapter, type Feedback } from '#src/exporters/mqtt/commands/command-adapter.js';
import { createLog } from '#src/log/log.js';
import type { Message } from '#src/mqtt/line.js';
import type { Params } from '#src/params.js';
import { FakeClock, settle } from '../../helpers/fakes/clock.ts';
import { callerAt } from '../../helpers/fakes/sender.ts';

const UNIX_SECONDS = 1_700_000_000;

function rig() {
  const clock = new FakeClock();
  const state = {
    clock,
    ran: [] as [string, Params, Caller][],
    said: [] as Feedback[],
    cleared: [] as string[],
    lines: [] as string[],
    isStale: false,
    failure: undefined as Error | undefined,
    outcome: { result: {} } as Outcome,
    isSent: true as boolean | Promise<boolean>,
  };
  const adapter = new CommandAdapter({
    commands: {
      prepare(name, params, caller) {
        if (name === 'a.off') throw new ServiceError('feature_disabled', 'a.off is switched off.');
        return async () => {
          state.ran.push([name, params, caller]);
          if (state.failure !== undefined) throw state.failure;
          return state.outcome;
        };
      },
    },
    clock,
    unixMs: () => UNIX_SECONDS * 1000,
    log: createLog((line) => state.lines.push(line), 'warn'),
    peer: callerAt('broker:1883'),
    nameOf: (topic) => (topic.startsWith('command/') ? topic.slice(8) : undefined),
    answer: async (feedback) => {
      state.said.push(feedback);
      return state.isSent;
    },
    clear: (topic) => state.cleared.push(topic),
    isStale: () => state.isStale,
  });
  adapter.begin();
  const take = async (name: string, payload: unknown, more: Partial<Message> = {}) => {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    adapter.take({
      topic: `command/${name}`,
      payload: Buffer.from(text),
      isRetained: false,
      isRepeated: false,
      qos: 1,
      ...more,
    });
    await settle();
    return state.said.at(-1);
  };
  return { ...state, state, adapter, take };
}

t.test('[3.mqtt-once] a command marked as sent again, or with a known id, is not done', async (t) => {
  const { ran, take, adapter } = rig();
  t.match(await take('a.b', { id: 1 }), { stage: 'done', id: 1 });
  t.match(await take('a.b', { id: 1 }), { stage: 'ignored', code: 'duplicate', id: 1 });
  t.match(await take('a.b', { id: '1' }), { stage: 'done' }, 'a text is another id');
  t.match(await take('a.b', {}, { isRepeated: true }), { stage: 'ignored', code: 'duplicate' });
  adapter.begin();
  t.match(await take('a.b', { id: 1 }, { qos: 0 }), { code: 'duplicate' }, 'also on another connection');
  t.match(await take('a.off', { id: 2 }), { stage: 'refused', code: 'feature_disabled' });
  t.match(await take('a.off', { id: 2 }), { stage: 'refused' }, 'what was not begun has not been done');
  t.equal(ran.length, 2);
  t.match(ran[0], ['a.b', {}, { address: 'broker:1883', isKeyed: false }], 'the id is no parameter');
});

t.test('[3.mqtt-once] without an id: an equal message after an outage is not done, once', async (t) => {
  const { ran, take, adapter, clock } = rig();
  await take('a.b', 'PRESS');
  await take('a.b', 'PRESS');
  t.equal(ran.length, 2, 'on one connection each is a command');
  await clock.advance(5000);
  adapter.begin();
  t.match(await take('a.b', 'PRESS'), { stage: 'ignored', code: 'duplicate' });
  t.match(await take('a.c', 'PRESS'), { stage: 'done' }, 'another topic');
  t.match(await take('a.b', 'PRESS', { qos: 0 }), { stage: 'done' }, 'QoS 0 is never sent again');
  t.match(await take('a.b', 'PRESS'), { stage: 'ignored' }, 'there were two of them');
  t.match(await take('a.b', 'PRESS'), { stage: 'done' }, 'and no third');
  adapter.begin();
  await clock.advance(60_001);
  t.match(await take('a.b', 'PRESS'), { stage: 'done' }, 'a minute later');
  await clock.advance(60_001);
  adapter.begin();
  t.match(await take('a.b', 'PRESS'), { stage: 'done' }, 'the last one was long before the outage');
});

t.test('[3.mqtt-late] a command that is old is not done', async (t) => {
  const { ran, take, state } = rig();
  t.match(await take('a.b', { sent_at: UNIX_SECONDS - 11 }), { stage: 'ignored', code: 'expired' });
  t.match(await take('a.b', { sent_at: UNIX_SECONDS - 9 }), { stage: 'done' });
  t.match(await take('a.b', { sent_at: UNIX_SECONDS + 500 }), { stage: 'done' }, 'of a clock that is ahead');
  t.match(await take('a.b', { sent_at: 'now' }), { stage: 'refused', code: 'invalid_value' });
  t.equal(ran.length, 2);
  state.isStale = true;
  await take('a.b', {});
  t.equal(ran.length, 2, 'the machine has slept');
});

t.test(
  '[3.mqtt-retained] a retained message is cleared, and its echo is not a command; one line per connection',
  async (t) => {
    const { ran, take, cleared, adapter, lines } = rig();
    await take('a.b', 'PRESS', { isRetained: true });
    await take('a.b', 'PRESS', { isRetained: true });
    await take('a.b', '');
    await take('x', '', { topic: 'elsewhere' });
    t.same(cleared, ['command/a.b', 'command/a.b']);
    adapter.begin();
    await take('a.b', 'PRESS', { isRetained: true });
    t.equal(cleared.length, 3, 'one that could not be cleared comes again');
    t.same(ran, []);
    t.equal(lines.length, 2);
  },
);

t.test('[3.mqtt-flood] a flood is refused, with one line a minute', async (t) => {
  const { ran, take, lines, clock, said } = rig();
  for (let count = 0; count < 100; count++) await take('a.b', 'PRESS');
  t.equal(ran.length, 40);
  t.equal(said.filter(({ code }) => code === 'too_many_requests').length, 60);
  t.equal(lines.length, 1);
  await clock.advance(1000);
  for (let count = 0; count < 100; count++) await take('a.b', 'PRESS');
  t.equal(ran.length, 60, '20 per second');
  t.equal(lines.length, 1);
});

t.test('[3.mqtt-flood] an answer that waits for the broker takes no place of a command', async (t) => {
  const { ran, take, state } = rig();
  state.isSent = new Promise(() => undefined);
  for (let count = 0; count < 30; count++) t.match(await take('a.b', 'PRESS'), { stage: 'done' });
  t.equal(ran.length, 30);
});

t.test(
  '[3.mqtt-answers] the answer goes before an act that waits for it; failures have a code',
  async (t) => {
    const { take, state, said, lines } = rig();
    const delivered: string[] = [];
    state.outcome = {
      result: { message: 'Command initiated' },
      isFollowed: true,
      onDelivered: (how) => delivered.push(how),
    };
    t.match(await take('a.b', { id: 5 }), { stage: 'accepted', message: 'Command initiated', id: 5 });
    state.isSent = false;
    await take('a.b', {});
    t.same(delivered, ['sent', 'closed']);
    state.failure = new ServiceError('not_possible_now', 'Not now.', { reason: 'no player' });
    t.match(await take('a.b', {}), {
      stage: 'failed',
      code: 'not_possible_now',
      message: 'Not now: no player.',
    });
    state.failure = new Error('secret detail');
    t.match(await take('a.b', {}), { stage: 'failed', code: 'internal_error' });
    t.notMatch(JSON.stringify(said), 'secret detail');
    t.match(lines.join(''), 'secret detail', 'it is in the log');
    state.failure = undefined;
    state.outcome = { result: {}, failure: new ServiceError('action_failed', 'It failed.') };
    t.match(await take('a.b', {}), { stage: 'failed', code: 'action_failed' });
  },
);
