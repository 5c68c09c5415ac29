/** Answers about the history: written in turns, made once for all who ask the same, bounded. */
import t from 'tap';
import { HistoryAnswer } from '#src/history/answers.js';
import { encodeHistory } from '#src/history/encode.js';
import { inTurns } from '#src/history/turns.js';
import type { HistoryPayload } from '#src/wire/history.js';

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

t.test('an answer is its parts, and its ETag that of the bytes', async (t) => {
  const [one, same, other] = [['a', 'ä'], ['aä'], ['b']].map((parts) => new HistoryAnswer(parts));
  t.strictSame([one?.json, one?.bytes.toString(), one?.length], ['aä', 'aä', 2]);
  t.equal(one?.etag, same?.etag);
  t.not(one?.etag, other?.etag);
});
