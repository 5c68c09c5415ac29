/** Answers about the history: written in turns, made once for all who ask the same, bounded. */
import t from 'tap';
import { HistoryAnswers } from '#src/history/answers.js';
import { encodeHistory } from '#src/history/encode.js';
import { inTurns } from '#src/history/turns.js';
import type { HistoryPayload } from '#src/wire/history.js';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';

const payloadOf = (names: readonly string[], count: number): HistoryPayload => ({
  start: 1_795_249_000,
  step: 10,
  count,
  series: Object.fromEntries(
    names.map((name) => [
      name,
      {
        unit: '°C',
        mean: Array.from({ length: count }, (_, at) => (at % 3 === 0 ? null : at / 10)),
        ...(name === 'fine' ? {} : { min: [], max: [] }),
      },
    ]),
  ),
  unknown: ['ä"\\', 'x'],
  marks: [{ at: 1.5, kind: 'start', seconds: null, text: 'It began.' }],
  events: [],
});

const now = (slice: () => void) => slice();

t.test('the parts are the payload as JSON.stringify writes it', async (t) => {
  for (const payload of [
    payloadOf([], 0),
    payloadOf(['a'], 0),
    payloadOf(['a', 'fine', 'disk.read//mnt/ä "b"', '__proto__'], 500),
    { ...payloadOf(['a'], 2), available: ['a', 'b'] },
  ])
    t.equal((await inTurns(encodeHistory(payload), now)).join(''), JSON.stringify(payload));
});

t.test('a long answer lets others have their turn between its columns', async (t) => {
  const payload = payloadOf(
    Array.from({ length: 46 }, (_, at) => `series ${at}`),
    720,
  );
  let turns = 0;
  const parts = await inTurns(encodeHistory(payload), (slice) => {
    turns++;
    slice();
  });
  t.equal(parts.join('').length, JSON.stringify(payload).length);
  t.ok(turns <= 46 * 4, `${turns} turns`);
  t.comment(`figure: ${46 * 720 * 3} numbers in ${turns + 1} turns`);
});

t.test('equal questions share an answer for a second after it was made, and no failure', async (t) => {
  const clock = new FakeClock();
  const answers = new HistoryAnswers(clock);
  let made = 0;
  const build = async () => [String(++made)];
  const [one, other] = await Promise.all([
    answers.find('q', 'client', build),
    answers.find('q', 'another', build),
  ]);
  t.equal(one, other);
  t.not(await answers.find('r', 'client', build), one);
  await clock.advance(999);
  t.equal(await answers.find('q', 'client', build), one);
  await clock.advance(1);
  t.equal((await answers.find('q', 'client', build)).json, '3');
  const broken = () => Promise.reject(new Error('the disk'));
  await t.rejects(answers.find('s', 'client', broken), { message: 'the disk' });
  t.equal((await answers.find('s', 'client', build)).json, '4');
  await clock.advance(1000);
  t.equal(clock.timers, 0);
});

t.test('kept answers are bounded, and so are waiting requests', async (t) => {
  const clock = new FakeClock();
  const answers = new HistoryAnswers(clock);
  const large = 'x'.repeat(3 * 1024 * 1024);
  let made = 0;
  const build = async () => {
    made++;
    return [large];
  };
  for (const question of ['a', 'b', 'c', 'a', 'b', 'c']) await answers.find(question, 'client', build);
  t.equal(made, 4, 'two of 3 MiB are kept, a third is made each time');
  // The last turn is over.
  await settle();
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waiting = Array.from({ length: 64 }, (_, at) =>
    answers.find(`w${at}`, 'client', async () => {
      await gate;
      return ['1'];
    }),
  );
  await settle();
  await t.rejects(answers.find('one more', 'client', build), {
    code: 'not_possible_now',
    message: 'Too many different questions about the history at the same time.',
  });
  const other = answers.find('other', 'another client', async () => ['2']);
  release();
  t.equal((await other).json, '2');
  t.equal((await Promise.all(waiting)).length, 64);
});
