/** The rows of `history`. */
import { ABSOLUTE_PATH, booleanRow, integer, number, optional, row } from './row.ts';

export const HISTORY_ROWS = {
  minutes: row(
    integer(0, 1440),
    60,
    'How long readings are kept in memory (docs/history.md). 0: nothing is recorded, and nothing is read without subscribers.',
  ),
  idle_interval_seconds: row(
    number(
      '0, or a number of seconds from 1 to 3600',
      (seconds) => seconds === 0 || (seconds >= 1 && seconds <= 3600),
    ),
    10,
    'Seconds between two readings without subscribers. 0: none then.',
  ),
  on_battery: booleanRow(
    false,
    'Whether these readings continue while the machine runs on battery. Otherwise only the battery is read then, once per minute.',
  ),
  path: optional(
    ABSOLUTE_PATH,
    'The file that the history is kept in beyond memory and restarts. Without one nothing is written.',
    { needsRestart: true },
  ),
  max_megabytes: row(
    integer(8, 1_048_576),
    256,
    'The maximum size of that file, in MiB; the oldest is deleted.',
  ),
};
