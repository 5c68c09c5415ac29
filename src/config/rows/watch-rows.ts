/** The rows of `watch.rules`. */
import { SEVERITIES, type Severity } from '../../wire/severities.ts';
import { isPrintable } from './predicates.ts';
import { choiceRow, type EntryOf, integer, namedRow, number, optional, row, text } from './row.ts';
import { judgeSeries } from './series-names.ts';

const limitRow = (word: string) =>
  optional<number>(
    number('a number', () => true),
    `The condition holds while the value is ${word} this, in the unit of the series.`,
  );

/** The keys of one entry of `watch.rules`. */
export const WATCH_KEYS = {
  series: row(
    text(
      'the name of a series, such as "cpu.load" or "disk.used_percent/*"',
      (name) => name.length <= 200 && isPrintable(name),
    ),
    '',
    'The series; `*` stands for any text, and each series that matches is watched separately. Required.',
    { defaultInWords: 'required', judge: judgeSeries },
  ),
  above: limitRow('above'),
  below: limitRow('below'),
  severity: optional<Severity>(
    choiceRow(SEVERITIES, 'warning', ''),
    'How urgent its events are: `info`, `warning` or `critical`.',
    { defaultInWords: '`warning`' },
  ),
  for_seconds: row(
    integer(1, 86_400),
    10,
    'How long the condition must hold before the event begins, and must not hold before it ends. Not less than the time between two readings.',
    { expected: 'a whole number of seconds from 1 to 86400' },
  ),
};

/** A condition that is reported when it has held for some time (`watch.rules`). It has either `above` or `below`. */
export type WatchRule = EntryOf<typeof WATCH_KEYS>;

export const WATCH_ROW = namedRow(
  {
    keys: WATCH_KEYS,
    required: 'series',
    requires: 'the name of a series',
    check: ({ above, below }) =>
      (above === undefined) === (below === undefined)
        ? `expected one of the keys above and below, found ${above === undefined ? 'none' : 'both'}`
        : undefined,
  },
  'a map of names to {series, above or below, for_seconds}',
  'Conditions that are recorded and sent as events when they have held for some time; see below.',
);
