/** The rows of `history`. */
import * as v from 'valibot';
import { booleanRow, configRow } from './rows.ts';
import { isAbsolutePath } from './values.ts';

export const HISTORY_ROWS = {
  minutes: configRow(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1440)), 60, {
    type: 'integer',
    expected: 'a whole number from 0 to 1440',
    meaning:
      'How long readings are kept in memory (docs/history.md). 0: nothing is recorded, and nothing is read while nobody listens.',
  }),
  idle_interval_seconds: configRow(
    v.pipe(
      v.number(),
      v.finite(),
      v.check((seconds) => seconds === 0 || (seconds >= 1 && seconds <= 3600)),
    ),
    10,
    {
      type: 'number',
      expected: '0, or a number of seconds from 1 to 3600',
      meaning: 'Seconds between two readings while nobody listens. 0: none then.',
    },
  ),
  on_battery: booleanRow(
    false,
    'Whether these readings go on while the machine runs on battery. Otherwise only the battery is read then, once per minute.',
  ),
  path: configRow<string | undefined>(v.pipe(v.string(), v.check(isAbsolutePath)), undefined, {
    type: 'string',
    expected: 'an absolute path',
    meaning:
      'The file that the history is kept in beyond memory and restarts. Without one nothing is written.',
    defaultInWords: 'none',
    needsRestart: true,
  }),
  max_megabytes: configRow(v.pipe(v.number(), v.integer(), v.minValue(8), v.maxValue(1_048_576)), 256, {
    type: 'integer',
    expected: 'a whole number from 8 to 1048576',
    meaning: 'The maximum size of that file, in MiB; the oldest is deleted.',
  }),
};
