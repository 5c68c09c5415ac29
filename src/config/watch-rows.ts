/** The rows of `watch.rules`. */
import * as v from 'valibot';
import { configRow, namedRow, type Row } from './rows.ts';
import { judgeSeries } from './series.ts';
import { isPrintable } from './values.ts';

/** A condition that is reported when it has held for some time (`watch.rules`). One of `above` and `below` is there. */
export interface WatchRule {
  /** The name of a series, in which `*` stands for any text. */
  readonly series: string;
  readonly above?: number;
  readonly below?: number;
  readonly for_seconds: number;
}

const SERIES = v.pipe(v.string(), v.maxLength(200), v.check(isPrintable));
const LIMIT = v.pipe(v.number(), v.finite());

const limitRow = (word: string) =>
  configRow<number | undefined>(LIMIT, undefined, {
    type: 'number',
    expected: 'a number',
    meaning: `The condition holds while the value is ${word} this, in the unit of the series.`,
    defaultInWords: 'none',
  });

/** The keys of one entry of `watch.rules`. */
export const WATCH_KEYS = {
  series: configRow(SERIES, '', {
    type: 'string',
    expected: 'the name of a series, such as "cpu.load" or "disk.used_percent/*"',
    meaning:
      'The series; `*` stands for any text, and each series that matches is watched by itself. Required.',
    defaultInWords: 'required',
    judge: judgeSeries,
  }),
  above: limitRow('above'),
  below: limitRow('below'),
  for_seconds: configRow(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(86_400)), 10, {
    type: 'integer',
    expected: 'a whole number of seconds from 1 to 86400',
    meaning:
      'How long the condition must hold before the event begins, and must not hold before it ends. Not less than the time between two readings.',
  }),
};

export const WATCH_ROW: Row<Readonly<Record<string, WatchRule>>> = namedRow<WatchRule>(
  {
    keys: WATCH_KEYS,
    required: 'series',
    requires: 'the name of a series',
    check: ({ above, below }) =>
      (above === undefined) === (below === undefined)
        ? `expected one of the keys above and below, found ${above === undefined ? 'none' : 'both'}`
        : undefined,
  },
  {
    expected: 'a map of names to {series, above or below, for_seconds}',
    meaning: 'Conditions that are recorded and sent as events when they have held for some time; see below.',
  },
);
