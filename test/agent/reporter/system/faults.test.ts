/** Brokers that die, stand still and come back, and agents that start again: nothing is done twice, nothing old arrives. */
import t from 'tap';
import { FakeClock } from '../../../helpers/fakes/clock.ts';
import { until } from '../../../helpers/until.ts';
import { HUB, hubCommand, startAgent, TestHub, testBrokers, untilOnline } from '../rig.ts';

/** Asks until there is an answer: both sides have found the broker again. */
async function meet(hub: TestHub): Promise<void> {
  const from = hub.answers.length;
  const timer = setInterval(() => {
    // Many of them are lost.
    if (hub.client.connected) void hub.poke();
  }, 200);
  try {
    await until(() => hub.answers.length > from, 'agent and hub meet');
  } finally {
    clearInterval(timer);
  }
}

testBrokers(t, '[3.mqtt-hub-broker] killed and started again', async (t, broker) => {
  const hub = await TestHub.open(t, broker.url);
  const { media } = await startAgent(t, broker);
  await meet(hub);
  const one = { id: 'one', run: hub.run, deadline: hub.agentClock + 29_000 };
  t.match(await hub.command('media.mute', {}, one), { stage: 'done' });
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await hub.want({ sections: ['cpu'] });
    const before = hub.samples.length;
    await until(() => hub.samples.length > before, 'samples');
    const last = hub.samples.at(-1)?.head.n ?? 0;
    const { run } = hub;
    await broker.kill(signal);
    await broker.start();
    await meet(hub);
    t.equal(hub.run, run, 'the agent is the same');
    const again = await hub.command('media.mute', {}, one);
    t.match(again, { stage: 'ignored', code: /^(?:duplicate|late)$/ }, `not done again after ${signal}`);
    await hub.want({ sections: ['memory'] });
    await until(() => hub.samples.some(({ head }) => head.n > last), 'samples of now');
    const numbers = hub.samples.map(({ head }) => head.n);
    t.same(
      numbers,
      [...new Set(numbers)].toSorted((a, b) => a - b),
      'none comes twice, or after a newer one',
    );
  }
  t.equal(media.controls.length, 1);
});

testBrokers(t, '[3.mqtt-hub-stopped] what the broker has kept too long is not done', async (t, broker) => {
  const hub = await TestHub.open(t, broker.url);
  const clock = new FakeClock();
  const { media } = await startAgent(t, broker, {}, { clock });
  await untilOnline(hub, clock);
  await meet(hub);
  const envelope = { ...hub.envelope({}), run: hub.run, deadline: clock.sinceBoot() + 5000 };
  await broker.freeze();
  const sent = hub.say(hubCommand('media.mute'), envelope, { qos: 1 });
  // The hub and the broker do not notice that time passes; the agent does.
  await clock.advance(5001);
  broker.thaw();
  await sent;
  const answer = () => hub.answers.find(({ id }) => id === envelope.id);
  await until(() => answer() !== undefined, 'an answer');
  t.match(answer(), { stage: 'ignored', code: 'late' });
  t.same(media.controls, []);
});

testBrokers(
  t,
  '[3.mqtt-hub-run] a command for an agent that has started again since is not done',
  async (t, broker) => {
    const hub = await TestHub.open(t, broker.url);
    const first = await startAgent(t, broker, {}, { isClosed: false });
    await meet(hub);
    const { run } = hub;
    await first.service.stop();
    const { media } = await startAgent(t, broker);
    await until(
      () => hub.on(`${HUB}/status`).filter((text) => text.includes('"online"')).length === 2,
      'again',
    );
    await meet(hub);
    t.not(hub.run, run);
    t.match(await hub.command('media.mute', {}, { run, deadline: 9e15 }), {
      stage: 'ignored',
      code: 'other_run',
    });
    t.same(media.controls, []);
    t.match(await hub.command('media.mute'), { stage: 'done' });
  },
);
