/** Answers about processes are built once for all who ask the same, one at a time, with room for others in between. */
import t from 'tap';
import { SharedAnswers } from '#src/processes/answers.js';
import { FakeClock } from '../helpers/fakes/clock.ts';

const CLIENT = '10.0.0.1';
const answersOn = (clock = new FakeClock()) => new SharedAnswers<string>(clock, 'processes');

t.test('[7.list-shared] forty equal questions are one answer', async (t) => {
  const answers = answersOn();
  let built = 0;
  const build = () => String(++built);
  const found = await Promise.all(
    Array.from({ length: 40 }, (_, i) => answers.find('a', `10.0.0.${i}`, build)),
  );
  t.equal(built, 1);
  t.ok(found.every((answer) => answer === '1'));
  t.equal(await answers.find('a', CLIENT, build), '1');
  await answers.find('b', CLIENT, build, false);
  t.equal(await answers.find('b', CLIENT, build, false), '3', 'not kept where it may change');
});

t.test('[7.list-shared] answers are forgotten when they are no longer requested', async (t) => {
  const clock = new FakeClock();
  const answers = answersOn(clock);
  let built = 0;
  const ask = () => answers.find('a', CLIENT, () => String(++built));
  t.equal(await ask(), '1');
  await clock.advance(999);
  t.equal(await ask(), '1');
  await clock.advance(1);
  t.equal(await ask(), '2', 'after a second it is built again');
  await clock.advance(1000);
  t.equal(clock.timers, 0);
});

t.test('[7.list-shared] different questions have a turn of the event loop each', async (t) => {
  const answers = answersOn();
  const order: string[] = [];
  const questions = Array.from({ length: 5 }, (_, i) =>
    answers.find(String(i), CLIENT, async () => {
      order.push(`begin ${i}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(`end ${i}`);
      return String(i);
    }),
  );
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(questions);
  isOver = true;
  t.strictSame(
    order,
    Array.from({ length: 5 }, (_, i) => [`begin ${i}`, `end ${i}`]).flat(),
    'one after the other',
  );
  t.ok(turns >= 5, `${turns} turns for others`);
});

t.test(
  '[7.list-shared] too many different questions are refused before any work; a failure is not kept',
  async (t) => {
    const answers = answersOn();
    let built = 0;
    const ask = (question: string) => answers.find(question, CLIENT, () => String(++built));
    const settled = await Promise.allSettled(Array.from({ length: 100 }, (_, i) => ask(String(i))));
    const refused = settled.filter(({ status }) => status === 'rejected');
    t.equal(built, 64);
    t.equal(refused.length, 36);
    t.match(refused[0], {
      reason: {
        code: 'not_possible_now',
        message: 'Too many different simultaneous requests for processes.',
      },
    });
    t.equal(await ask('later'), '65', 'there is room again');
    const fail = () => answers.find('fails', CLIENT, () => Promise.reject(new Error('no')));
    await t.rejects(fail(), /no/);
    t.equal(await answers.find('fails', CLIENT, () => 'good'), 'good');
  },
);

t.test('[7.list-shared] kept answers have a limit', async (t) => {
  const answers = answersOn();
  let built = 0;
  const long = () => `${++built}${'x'.repeat(3 * 1024 * 1024)}`;
  for (const question of ['a', 'b', 'c', 'd']) await answers.find(question, CLIENT, long);
  t.equal(built, 4);
  for (const question of ['a', 'b']) await answers.find(question, CLIENT, long);
  t.equal(built, 4, 'the first two fit');
  for (const question of ['c', 'd']) await answers.find(question, CLIENT, long);
  t.equal(built, 6, 'the others are built again');
});

t.test("[7.list-fair] one client's many questions do not delay another's first", async (t) => {
  const answers = answersOn();
  const order: string[] = [];
  const ask = (client: string, text: string) => answers.find(text, client, () => String(order.push(text)));
  const many = Array.from({ length: 60 }, (_, i) => ask('10.0.0.1', `many ${i}`));
  const others = ['10.0.0.2', '10.0.0.3'].map((client) => ask(client, `first of ${client}`));
  await Promise.all([...many, ...others]);
  t.ok(order.indexOf('first of 10.0.0.2') <= 2, order.slice(0, 5).join(', '));
  t.ok(order.indexOf('first of 10.0.0.3') <= 3);
  t.equal(order.length, 62);
  const crowd = Array.from({ length: 100 }, (_, i) => ask('10.0.0.1', `more ${i}`));
  const honest = ask('10.0.0.4', 'honest');
  const refused = (await Promise.allSettled(crowd)).filter(({ status }) => status === 'rejected');
  t.ok(refused.length > 0, 'too many of one client');
  await honest;
});

t.test('[7.list-fair] twenty clients that fill the queue do not keep another one out', async (t) => {
  const answers = answersOn();
  const order: string[] = [];
  const ask = (client: string, text: string) => answers.find(text, client, () => String(order.push(text)));
  const crowd = Array.from({ length: 20 * 64 }, (_, i) => ask(`192.0.2.${i % 20}`, `many ${i}`));
  const settled = Promise.allSettled(crowd);
  const honest = ask('192.0.2.100', 'honest');
  // It asks what another one's question, far behind, asks too.
  const shared = ask('192.0.2.101', `many ${20 * 50}`);
  await Promise.all([honest, shared]);
  t.ok(order.indexOf('honest') <= 21, `${order.indexOf('honest')} answers before it`);
  t.ok(order.length <= 40, `${order.length} answers before what it shares`);
  const refused = (await settled).filter(({ status }) => status === 'rejected').length;
  t.ok(refused >= 20 * 64 - 1024, `${refused} of those are refused`);
});
