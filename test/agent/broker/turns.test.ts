/** Calls to an agent that is not dialled: what waits, waits at the hub, in turns by client, and commands never for reads. */
import t from 'tap';
import { Calls } from '#src/agent/remote/calls.js';
import { Turns } from '#src/exporters/mqtt/commands/sender-turns.js';
import { FakeClock } from '../../helpers/fakes/clock.ts';
import { callerAt } from '../../helpers/fakes/sender.ts';

/** An agent of today, which refuses more than 20 messages of either kind per second, 40 that come together. */
function setUp({ answerMs = 5 } = {}) {
  const clock = new FakeClock();
  const rates = { get: new Turns(clock), cmd: new Turns(clock) };
  const world = { clock, sent: [] as string[], refused: 0, reading: 0, mostReading: 0 };
  const calls: Calls = new Calls({
    hub: 'hub1',
    clock,
    answerMs: 10_000,
    publish(id, name, payload) {
      const { id: callId, client, what } = JSON.parse(payload);
      world.sent.push(`${client} ${what ?? name}`);
      const isRead = name === 'get';
      const isTaken = rates[isRead ? 'get' : 'cmd'].take();
      if (!isTaken) world.refused++;
      if (isRead) world.reading++;
      world.mostReading = Math.max(world.mostReading, world.reading);
      clock.setTimer(() => {
        if (isRead) world.reading--;
        const outcome = isTaken
          ? { stage: 'done', result: {} }
          : { stage: 'refused', code: 'too_many_requests' };
        calls.take(id, Buffer.from(JSON.stringify({ command: name, id: callId, ...outcome })));
      }, answerMs);
      return true;
    },
  });
  const outcomes = { done: 0, failed: [] as string[] };
  const count = (call: Promise<unknown>) =>
    call.then(
      () => void outcomes.done++,
      (error: { readonly code: string }) => void outcomes.failed.push(error.code),
    );
  const read = (address: string, what: string) =>
    calls.question('pc', { what, params: {}, who: callerAt(address), deadlineMs: clock.now() + 10_000 });
  const command = (address: string) =>
    calls.command(
      'pc',
      { what: 'media.mute', params: {}, who: callerAt(address), deadlineMs: clock.now() + 5000 },
      { run: 'r', clock: 99 },
    );
  return { world, calls, outcomes, count, read, command };
}

t.test('[I.hub.hostile] commands do not fail because two addresses read the history', async (t) => {
  const { world, outcomes, count, read, command } = setUp();
  let reads = 0;
  for (let i = 0; i < 30; i++) {
    for (let each = 0; each < 40; each++)
      read(`192.0.2.${1 + (each % 2)}`, `history ${reads++}`).catch(() => undefined);
    void count(command('192.0.2.9'));
    await world.clock.advance(100);
  }
  await world.clock.advance(1000);
  t.strictSame(outcomes, { done: 30, failed: [] });
  t.equal(world.refused, 0, 'the agent refuses nothing');
  t.ok(world.mostReading <= 12);
  t.ok(world.sent.filter((text) => text.includes('history')).length > 60, 'and reads go on');
});

t.test('[I.hub.hostile] nor because others send commands, and reads of others have their turn', async (t) => {
  const { world, outcomes, count, read, command } = setUp();
  for (let i = 0; i < 30; i++) {
    for (let each = 0; each < 20; each++) {
      command(`192.0.2.${1 + (each % 2)}`).catch(() => undefined);
      read(`192.0.2.${1 + (each % 2)}`, `history ${i} ${each}`).catch(() => undefined);
    }
    void count(command('192.0.2.9'));
    void count(read('192.0.2.9', `power ${i}`));
    await world.clock.advance(300);
  }
  await world.clock.advance(1000);
  t.strictSame(outcomes, { done: 60, failed: [] });
  t.equal(world.refused, 0);
});

t.test('[I.hub.hostile] slow commands of one address do not hold up those of another', async (t) => {
  const { world, outcomes, count, command } = setUp({ answerMs: 4000 });
  for (let each = 0; each < 30; each++) command('192.0.2.1').catch(() => undefined);
  t.equal(world.sent.length, 4);
  void count(command('192.0.2.9'));
  t.equal(world.sent.at(-1), '192.0.2.9 media.mute');
  await world.clock.advance(4000);
  t.equal(outcomes.done, 1);
});

t.test('[I.hub.mqtt.commands] a waiting command ends at its deadline, and was not done', async (t) => {
  const { world, outcomes, count, command } = setUp({ answerMs: 60_000 });
  for (let each = 0; each < 5; each++) void count(command('192.0.2.1'));
  await world.clock.advance(5000);
  t.strictSame(outcomes.failed, ['host_unreachable'], 'the fifth has not been sent');
  t.equal(world.sent.length, 4);
});

t.test('[I.hub.hostile] the clock is asked for whatever waits', async (t) => {
  const { world, read } = setUp({ answerMs: 4000 });
  for (let each = 0; each < 60; each++) read(`192.0.2.${each % 4}`, `history ${each}`).catch(() => undefined);
  const before = world.sent.length;
  read('192.0.2.9', 'clock').catch(() => undefined);
  t.strictSame(world.sent.slice(before), ['192.0.2.9 clock']);
});

t.test('[I.hub.hostile] the calls of one address to many agents leave room for others', async (t) => {
  const { calls, world } = setUp({ answerMs: 60_000 });
  const ask = (id: string, address: string, what: string) =>
    calls.question(id, { what, params: {}, who: callerAt(address), deadlineMs: 10_000 });
  let refused = 0;
  for (let agent = 0; agent < 100; agent++)
    for (let each = 0; each < 60; each++) ask(`pc${agent}`, '192.0.2.1', `q${each}`).catch(() => refused++);
  await world.clock.advance(1);
  t.ok(refused >= 6000 - 500, 'a quarter for one address');
  const before = world.sent.length;
  ask('nas', '192.0.2.9', 'power').catch(() => undefined);
  t.equal(world.sent.length, before + 1);
});
