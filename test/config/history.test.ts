/** The keys of `history`. */
import t from 'tap';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { HISTORY_ROWS } from '#src/config/rows/history-rows.js';

t.test('[8.history] an hour in memory, a reading every 10 s, nothing on disk', async (t) => {
  t.strictSame(DEFAULT_CONFIG.history, {
    minutes: 60,
    idle_interval_seconds: 10,
    on_battery: false,
    path: undefined,
    max_megabytes: 256,
  });
});

t.test('[8.history] the values that each key accepts', async (t) => {
  const cases: Readonly<Record<keyof typeof HISTORY_ROWS, readonly [good: unknown[], bad: unknown[]]>> = {
    minutes: [
      [0, 1, 60, 1440],
      [-1, 0.5, 1441, '60', null],
    ],
    idle_interval_seconds: [
      [0, 1, 2.5, 3600],
      [0.5, -1, 3601, Number.POSITIVE_INFINITY, '10'],
    ],
    on_battery: [
      [true, false],
      [0, 'true'],
    ],
    path: [['/var/lib/hostwire/history.sqlite'], ['history.sqlite', '', 'a/b', '/a\0b', 7]],
    max_megabytes: [
      [8, 256],
      [7, 8.5, '256'],
    ],
  };
  for (const [key, [good, bad]] of Object.entries(cases)) {
    const row = HISTORY_ROWS[key as keyof typeof HISTORY_ROWS]; // The keys of `cases`.
    for (const value of good) t.ok(row.accepts(value), `${key}: ${value}`);
    for (const value of bad) t.notOk(row.accepts(value), `${key}: ${JSON.stringify(value)}`);
  }
});
