/** How long the hub keeps the answers of a machine. */
import t from 'tap';
import { OWN_ACCOUNT } from '#src/access/caller.js';
import { SharedAnswers } from '#src/machine/shared-answers.js';
import { FakeClock } from '../helpers/fakes/clock.ts';

function setUp(delayMs: number) {
  const clock = new FakeClock();
  let asked = 0;
  const send = async () => {
    const bytes = Buffer.from(String(asked++));
    await new Promise<void>((resolve) => clock.setTimer(resolve, delayMs));
    return { bytes };
  };
  const answers = new SharedAnswers(clock);
  const ask = (what: string) =>
    answers.ask({ what, params: {}, client: OWN_ACCOUNT, deadlineMs: 60_000 }, send);
  return { clock, ask, asked: () => asked };
}

t.test(
  '[I.hub.usage] a sample is kept for 0.9 s: a request each second gets a new one each time',
  async (t) => {
    for (const delayMs of [0, 40, 300, 700]) {
      const { clock, ask } = setUp(delayMs);
      const answers: string[] = [];
      for (let polls = 0; polls < 12; polls++) {
        void ask('usage').then(({ bytes }) => answers.push(bytes.toString()));
        await clock.advance(800);
        void ask('usage').then(({ bytes }) => t.equal(bytes.toString(), String(polls), 'shared until then'));
        await clock.advance(200);
      }
      t.equal(new Set(answers).size, 12, `from an agent that answers after ${delayMs} ms`);
    }
  },
);

t.test('[I.hub.usage] requests while an answer is awaited share it, however long that takes', async (t) => {
  const { clock, ask, asked } = setUp(5000);
  const first = ask('usage');
  await clock.advance(4900);
  const second = ask('usage');
  await clock.advance(100);
  t.equal(await second, await first);
  t.equal(asked(), 1);
  const third = ask('usage');
  await clock.advance(5000);
  t.equal((await third).bytes.toString(), '1');
});
