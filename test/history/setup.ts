/** A history over a sampler, a clock and a machine of the test's own. */
import { type Config, DEFAULT_CONFIG } from '#src/config/config.js';
import { LiveConfig } from '#src/config/current.js';
import { Mutes } from '#src/history/mutes.js';
import { RecordedHistory, type RecordedHistoryOptions } from '#src/history/recorded.js';
import type { BatteryState } from '#src/host/details.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { BATTERY } from '../stats/literals.ts';
import { setUp } from '../stats/sampler-setup.ts';

export const UNIX_SECONDS = 1e9;

type Settings = Partial<Config['history']>;
type Parts = Partial<Pick<RecordedHistoryOptions, 'processes' | 'watch' | 'store'>>;

export function setUpHistory(settings: Settings = {}, parts: Parts = {}, intervalSeconds = 2) {
  const set = setUp(intervalSeconds);
  const withSettings = (changed: Settings): Config => ({
    ...DEFAULT_CONFIG,
    history: { ...DEFAULT_CONFIG.history, ...changed },
  });
  const config = new LiveConfig(withSettings(settings));
  const warnings: string[] = [];
  const history = new RecordedHistory({
    sampler: set.sampler,
    config,
    log: { warn: (line: string) => warnings.push(line) },
    // The clock of the readings (sampler-setup.ts).
    unixMs: () => 1e12 + set.clock.sinceBoot(),
    startedAt: UNIX_SECONDS + 0.5,
    version: '1.2.3',
    ...parts,
  });
  return {
    ...set,
    history,
    config,
    warnings,
    reload: (changed: Settings) => config.replace(withSettings(changed)),
    readTimes: () => set.host.reads.map(({ atMs }) => atMs),
    /** Returns the last `seconds` from memory, by series. */
    query: async (seconds: number, step?: number, series: readonly string[] = ['*']) => {
      const answer = await history.query({ series, since: -seconds, until: undefined, step });
      if (answer === 'too_many') throw new Error('too many numbers');
      return answer;
    },
  };
}

export const batteryOf = (state: BatteryState) => ({ ...BATTERY, state, percent: 50 });

/** Nothing is muted, and nothing can be. */
export const noMutes = () =>
  new Mutes({
    clock: new FakeClock(),
    unixMs: () => UNIX_SECONDS * 1000,
    log: { warn: () => undefined },
    path: undefined,
    find: () => undefined,
  });
