/** Limits of an agent on hubs: a rate for each, one for the clock, and slots that one client cannot use up. */

import t from 'tap';
import { type QuestionOptions, Questions } from '#src/agent/reporter/questions.js';
import { Turns } from '#src/exporters/mqtt/commands/sender-turns.js';
import { createLog } from '#src/log/log.js';
import { ALL_SCOPES } from '#src/scopes.js';
import { FakeClock, settle } from '../../helpers/fakes/clock.ts';

t.test('[3.mqtt-hub-get] each hub has a rate of its own, and all others share one', async (t) => {
  const clock = new FakeClock();
  const turns = new Turns(clock);
  const taken = (hub: string, count = 100) =>
    Array.from({ length: count }, () => turns.take(hub)).filter((isTaken) => isTaken).length;
  t.equal(taken('hub1'), 40);
  t.equal(taken('hub2'), 40);
  for (let i = 3; i <= 16; i++) taken(`hub${i}`);
  t.equal(taken('made-up', 30), 30);
  t.equal(taken('made-up-too', 30), 10, 'names that somebody makes up have one rate');
  await clock.advance(1000);
  t.equal(taken('hub1'), 20);
  await clock.advance(3000);
  t.equal(taken('another'), 40, 'those that are silent make room');
});

function setUp() {
  const answers: { readonly id: string; readonly code?: string }[] = [];
  const waiting: (() => void)[] = [];
  const options = {
    clock: new FakeClock(),
    log: createLog(() => undefined),
    subject: 'hub',
    peer: { key: undefined, scopes: ALL_SCOPES },
    answer: async (_: string, text: string) => void answers.push(JSON.parse(text)),
    stamp: () => ({ run: 'r', clock: 1 }),
    machine: { ask: () => new Promise((resolve) => waiting.push(() => resolve({ bytes: '{}' }))) },
  } as unknown as QuestionOptions; // Only what the questions of this test read.
  const questions = new Questions(options);
  let asked = 0;
  const ask = async (client: string, what: string, hub = 'hub1', key: string | null = null) => {
    const id = `q${asked++}`;
    questions.take(Buffer.from(JSON.stringify({ hub, id, client, key, what })));
    await settle();
    return answers.find((answer) => answer.id === id)?.code ?? 'taken';
  };
  return { ask, waiting };
}

t.test(
  '[3.mqtt-hub-get] one client of a hub does not take all places, and the clock needs none',
  async (t) => {
    const { ask, waiting } = setUp();
    const codes: string[] = [];
    for (let i = 0; i < 6; i++) codes.push(await ask('192.0.2.1', 'power'));
    t.strictSame(codes, [...Array(4).fill('taken'), 'too_many_requests', 'too_many_requests']);
    t.equal(await ask('192.0.2.2', 'power'), 'taken');
    for (let i = 0; i < 60; i++) await ask(`192.0.2.${i}`, 'power');
    t.equal(await ask('192.0.2.100', 'power'), 'too_many_requests');
    t.equal(
      await ask('192.0.2.100', 'power', 'hub2', 'default'),
      'taken',
      'a client with the key, of another hub',
    );
    t.equal(await ask('192.0.2.100', 'clock'), 'taken');
    for (const resolve of waiting) resolve();
  },
);
