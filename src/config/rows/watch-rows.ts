/** The rows of `watch.rules`. */
import { didYouMean, findLike, findMeantAmong } from '../../nearest.ts';
import { SERIES } from '../../wire/series.ts';
import { SEVERITIES, type Severity } from '../../wire/severities.ts';
import { BOOLEAN, choice, integer, isPrintable, number, text } from './forms.ts';
import { type Doubt, type Entry, type EntryIn, namedRow, optional, row } from './row.ts';

const limitRow = (meaning: string) =>
  optional<number>(
    number('a number', () => true),
    meaning,
  );

/** Returns what is wrong with a rule of which each value is right. */
function whyContradictory(entry: Entry): string | undefined {
  const { above, below, missing, clear_above, clear_below } = entry;
  const found = Object.entries({ above, below, missing: missing === true ? missing : undefined }).flatMap(
    ([key, value]) => (value === undefined ? [] : [key]),
  );
  if (found.length !== 1)
    return `expected one of the keys above, below and missing, found ${found.join(' and ') || 'none'}`;
  if (clear_below !== undefined && above === undefined)
    return `clear_below is used with above only; ${below === undefined ? 'leave it out' : 'write clear_above'}`;
  if (clear_above !== undefined && below === undefined)
    return `clear_above is used with below only; ${above === undefined ? 'leave it out' : 'write clear_below'}`;
  if (Number(clear_below) > Number(above))
    return `clear_below is ${clear_below}, on the wrong side of above (${above}): the event would end while it begins; correct one of them`;
  return Number(clear_above) < Number(below)
    ? `clear_above is ${clear_above}, on the wrong side of below (${below}): the event would end while it begins; correct one of them`
    : undefined;
}

/** A condition that is reported when it has held for some time (`watch.rules`): one of `above`, `below` and `missing`. */
export type WatchRule = EntryIn<typeof WATCH_ROW>;
export const WATCH_ROW = namedRow(
  {
    keys: {
      series: row(
        text(
          'the name of a series, such as "cpu.load" or "disk.used_percent/*"',
          (name) => name.length <= 200 && isPrintable(name),
        ),
        '',
        'The series; `*` stands for any text, and each series that matches is watched separately.',
        { defaultInWords: 'required', judge: judgeSeries },
      ),
      above: limitRow('The condition holds while the value is above this, in the unit of the series.'),
      below: limitRow('The condition holds while the value is below this, in the unit of the series.'),
      clear_below: limitRow(
        'With `above`: an event that has begun ends only when the value is below this, so that a value near the limit is one event.',
      ),
      clear_above: limitRow('With `below`: an event that has begun ends only when the value is above this.'),
      missing: optional<boolean>(
        BOOLEAN,
        'With `true`, in place of a limit: the condition holds while the series has no value, for at least two readings. Of a name with `*`: each series that had one since the service has started.',
        { defaultInWords: '`false`' },
      ),
      severity: optional<Severity>(
        choice(SEVERITIES),
        'How urgent its events are: `info`, `warning` or `critical`.',
        { defaultInWords: '`warning`' },
      ),
      for_seconds: row(
        integer(1, 86_400),
        10,
        'How long the condition must hold before the event begins, and must not hold before it ends. Not less than the time between two readings.',
        { expected: 'a whole number of seconds from 1 to 86400' },
      ),
    },
    required: 'series',
    requires: 'the name of a series',
    check: whyContradictory,
  },
  'a map of names to {series, above or below or missing, clear_below or clear_above, for_seconds, severity}',
  'Conditions that are recorded and sent as events when they have held for some time; see below.',
);

const NAMES = Object.keys(SERIES);
const EXPECTED = 'no series has this name';

/** Judges the name of a series: one that matches nothing would never be noticed. Undefined where a series may match. */
export function judgeSeries(series: string): Doubt | undefined {
  const slash = series.indexOf('/');
  const name = slash < 0 ? series : series.slice(0, slash);
  const subject = slash < 0 ? '' : series.slice(slash);
  const star = name.indexOf('*');
  if (star >= 0 && NAMES.some((known) => known.startsWith(name.slice(0, star)))) return undefined;
  const form = Object.hasOwn(SERIES, name) ? SERIES[name] : undefined;
  if (form === 'both' || (form !== undefined && (form === 'each') === slash >= 0)) return undefined;
  const meant = form === undefined ? findMeantAmong(name, NAMES) : name;
  if (meant !== undefined)
    return { isError: true, message: `${EXPECTED}${didYouMean(withSubject(meant, subject))}` };
  const like = findLike(name, NAMES);
  const hint = like === undefined ? undefined : withSubject(like, subject);
  return { isError: false, message: `${EXPECTED}${didYouMean(hint, 'docs/history.md lists them')}` };
}

/** `name` in one of its forms: with `subject`, or with `/*` for each. */
function withSubject(name: string, subject: string): string {
  const form = SERIES[name];
  if (form === 'one') return name;
  return form === 'each' && subject === '' ? `${name}/*` : `${name}${subject}`;
}
