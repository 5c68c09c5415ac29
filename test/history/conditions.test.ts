/** Watch rules over points: what begins, what ends, and what a gap does. */
import t from 'tap';
import { Conditions, type Turn, type WatchRules } from '#src/history/conditions.js';
import { createRandom } from '../helpers/random.ts';

const HOT: WatchRules = { hot: { series: 'cpu.load', above: 90, for_seconds: 10 } };
const BEGUN_AT = 1_000_000;

/** Conditions on a machine whose clocks a test sets; `value` null: not readable, undefined: the series is not there. */
function setUp(rules: WatchRules = HOT, gapSeconds = 2, isWhole = false) {
  const conditions = new Conditions();
  const clocks = { at: BEGUN_AT, awake: 50 };
  conditions.setRules(rules, clocks.at);
  const step = (value: number | null | undefined, seconds = 1, name = 'cpu.load'): readonly Turn[] => {
    clocks.at += seconds;
    clocks.awake += seconds;
    const points = value === undefined ? [] : [{ name, unit: '%', value }];
    return conditions.step({ ...clocks, gapSeconds, points, isWhole });
  };
  /** The same value for some seconds. */
  const hold = (value: number | null | undefined, seconds: number) =>
    Array.from({ length: seconds }, () => step(value)).flat();
  return { conditions, clocks, step, hold };
}

const states = (turns: readonly Turn[]) => turns.map(({ state, value }) => [state, value]);

t.test('[3.watch-begin] an event begins once, when the condition has held for its time', async (t) => {
  const { step, hold, clocks, conditions } = setUp();
  t.strictSame(hold(90, 30), [], 'exactly the limit is not above it');
  t.strictSame(hold(95, 10), []);
  t.equal(conditions.isWaiting, true);
  t.strictSame(step(97.26), [
    {
      at: clocks.at,
      rule: 'hot',
      state: 'begin',
      series: 'cpu.load',
      value: 97.26,
      text: 'CPU load has been above 90 % for 10 s: 97.3 %',
    },
  ]);
  t.equal(conditions.isWaiting, false);
  t.strictSame(hold(99, 100), []);
});

t.test('[3.watch-begin] a moment below it begins the time anew', async (t) => {
  const { hold } = setUp();
  for (let i = 0; i < 5; i++) t.strictSame([...hold(95, 10), ...hold(50, 1)], []);
});

t.test('[3.watch-end] an event ends once, when the condition has not held for that time', async (t) => {
  const { hold } = setUp();
  t.strictSame(states(hold(95, 11)), [['begin', 95]]);
  t.strictSame([...hold(50, 10), ...hold(95, 1), ...hold(50, 10)], [], 'not by a short drop');
  const ended = hold(40, 30);
  t.strictSame(states(ended), [['end', 40]]);
  t.equal(ended[0]?.text, 'CPU load is no longer above 90 %: 40 %');
  t.strictSame(states(hold(95, 11)), [['begin', 95]], 'and may begin again');
});

t.test('[3.watch-begin] samples that are early; below; values of 0', async (t) => {
  const { step } = setUp({ low: { series: 'cpu.load', below: 5, for_seconds: 10 } }, 20);
  t.strictSame(step(0, 10), []);
  t.match(step(0, 9.6), [{ state: 'begin', text: 'CPU load has been below 5 % for 10 s: 0 %' }]);
});

t.test('[12.watch-clear] with hysteresis a value near the limit is one event', async (t) => {
  for (const [rule, bad, near, good] of [
    [{ above: 90, clear_below: 85 }, 91, 85, 84.9],
    [{ below: 10, clear_above: 15 }, 9, 15, 15.1],
  ] as const) {
    const { hold } = setUp({ hot: { series: 'cpu.load', for_seconds: 10, ...rule } });
    t.strictSame(hold(near, 30), [], 'before it begins only the limit counts');
    t.strictSame(states(hold(bad, 11)), [['begin', bad]]);
    for (let i = 0; i < 3; i++) t.strictSame([...hold(near, 30), ...hold(good, 9), ...hold(bad, 5)], []);
    t.strictSame(states(hold(good, 11)), [['end', good]]);
    t.strictSame(hold(near, 30), [], 'and does not begin again there');
  }
});

t.test(
  '[12.watch-missing] a series without values begins an event, and one with values ends it',
  async (t) => {
    const rules = { gone: { series: 'cpu.load', missing: true, for_seconds: 10 } };
    const { hold, conditions } = setUp(rules, 2, true);
    t.strictSame([...hold(5, 30), ...hold(null, 2), ...hold(5, 3), ...hold(undefined, 12)], []);
    const [began, ...more] = hold(undefined, 30);
    t.match(began, { rule: 'gone', state: 'begin', series: 'cpu.load', value: null });
    t.equal(began?.text, 'CPU load has had no value for 10 s');
    t.strictSame([...more, ...hold(7, 5), ...hold(null, 30), ...hold(7, 10)], []);
    const ended = hold(8, 1);
    t.match(ended, [{ state: 'end', value: 8, text: 'CPU load has values again: 8 %' }]);
    hold(null, 20);
    t.match(conditions.setRules({}, 1), [{ rule: 'gone', state: 'end' }], 'the rule is removed');
  },
);

t.test('[12.sentence] series whose values say little have a sentence', async (t) => {
  const rule = { series: 'drive.passed/*', below: 1, for_seconds: 1 };
  const { step } = setUp({ failing: rule });
  const [, begun] = [step(0, 1, 'drive.passed/sda'), step(0, 1, 'drive.passed/sda')];
  t.equal(begun[0]?.text, 'Drive sda expects to fail: copy its data while it can be read');
});

t.test('[12.watch-missing] never seen; a pattern; readings of a part', async (t) => {
  const gone = { series: 'cpu.temperature', missing: true, for_seconds: 10 };
  t.match(setUp({ gone }, 2, true).hold(5, 30), [{ series: 'cpu.temperature', state: 'begin' }]);
  t.strictSame(setUp({ gone }, 2, false).hold(5, 300), [], 'a reading of a part says nothing of others');
  const each = setUp({ gone: { ...gone, series: 'disk.used_percent/*' } }, 2, true);
  t.strictSame(each.hold(5, 30), [], 'no disk was ever there');
  for (let i = 0; i < 5; i++) each.step(50, 1, 'disk.used_percent//a');
  t.match(each.hold(5, 30), [{ series: 'disk.used_percent//a', state: 'begin', value: null }]);
});

t.test('[3.watch-gap] a gap neither begins nor ends an event', async (t) => {
  const { hold, step } = setUp();
  hold(95, 8);
  t.strictSame(hold(null, 60), []);
  t.strictSame(hold(95, 8), [], 'the time before it does not count');
  t.strictSame(states(hold(95, 3)), [['begin', 95]]);
  t.strictSame([...hold(null, 12), ...hold(95, 5), ...hold(undefined, 12), ...hold(95, 5)], []);
  t.strictSame(hold(50, 6), []);
  t.strictSame([...hold(null, 5), ...hold(50, 6)], [], 'nor does it count towards the end');
  t.strictSame(states([...step(50), ...hold(50, 4)]), [['end', 50]]);
});

t.test('[3.watch-gap] a series without a value for longer than that ends its event', async (t) => {
  for (const value of [null, undefined]) {
    const { hold } = setUp();
    hold(95, 11);
    t.strictSame(hold(value, 12), []);
    const ended = hold(value, 50);
    t.strictSame(states(ended), [['end', null]]);
    t.equal(ended[0]?.text, 'CPU load was above 90 %, and has been unavailable for 13 s');
    t.strictSame(hold(50, 20), [], 'once');
  }
});

t.test('[3.watch-gap] a sleep and a clock that is set neither begin nor end an event', async (t) => {
  for (const [jump, text] of [
    [3600, 'sleep, or the clock set forward'],
    [-3600, 'the clock set back'],
  ] as const) {
    const { hold, clocks } = setUp();
    hold(95, 9);
    clocks.at += jump;
    t.strictSame(hold(95, 10), [], text);
    t.strictSame(states(hold(95, 1)), [['begin', 95]], text);
    hold(50, 9);
    clocks.at += jump;
    t.strictSame(hold(50, 10), [], text);
    t.strictSame(states(hold(50, 1)), [['end', 50]], text);
  }
});

t.test('[3.watch-series] each series that a rule matches is watched separately', async (t) => {
  const conditions = new Conditions();
  conditions.setRules(
    {
      full: { series: 'disk.used_percent/*', above: 95, for_seconds: 2 },
      root: { series: 'disk.used_percent//', above: 50, for_seconds: 4 },
    },
    0,
  );
  const found: string[] = [];
  for (let second = 0; second < 8; second++) {
    const points = [
      { name: 'disk.used_percent//', unit: '%', value: 96 },
      { name: 'disk.used_percent//home', unit: '%', value: second < 4 ? 10 : 99 },
      { name: 'disk.used', unit: '%', value: 99 },
    ];
    for (const { rule, series } of conditions.step({ at: second, awake: second, gapSeconds: 2, points }))
      found.push(`${second} ${rule} ${series}`);
  }
  t.strictSame(found, [
    '2 full disk.used_percent//',
    '4 root disk.used_percent//',
    '6 full disk.used_percent//home',
  ]);
});

t.test('[3.watch-reload] unchanged rules continue; changed and removed ones end', async (t) => {
  const { conditions, hold } = setUp();
  hold(95, 5);
  t.strictSame(conditions.setRules({ ...HOT, other: { series: 'x', above: 1, for_seconds: 1 } }, 7), []);
  t.strictSame(states(hold(95, 6)), [['begin', 95]], 'with the time before the reload');
  t.strictSame(conditions.setRules(structuredClone(HOT), 7), []);
  const ended = conditions.setRules({ hot: { series: 'cpu.load', above: 80, for_seconds: 10 } }, 7);
  t.match(ended, [{ at: 7, rule: 'hot', state: 'end', value: null }]);
  t.strictSame(states(hold(85, 11)), [['begin', 85]], 'by the new limit');
  t.match(conditions.setRules({}, 8), [{ at: 8, state: 'end' }]);
  t.strictSame(hold(100, 100), []);
});

/** Compares the transitions for random values, taken second by second, with a plain reference. */
t.test('[3.watch-begin] [3.watch-end] as a plain reference, for random values', async (t) => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = createRandom(seed);
    const { step } = setUp();
    let isOn = false;
    let differing = 0;
    let isSound = true;
    for (let second = 0; second < 500; second++) {
      const value: number = random.below(4) === 0 ? 50 : random.below(30) === 0 ? 90 : isOn ? 50 : 95;
      const [turn, ...more] = step(value);
      const holds = value > 90;
      differing = holds === isOn ? 0 : differing + 1;
      const turns = differing > 10;
      if (turns) {
        isOn = holds;
        differing = 0;
      }
      isSound &&= more.length === 0 && (turn !== undefined) === turns;
      if (turn !== undefined) isSound &&= (turn.state === 'begin') === isOn;
    }
    if (!isSound) t.fail(`seed ${seed}`);
  }
});
