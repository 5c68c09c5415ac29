/** Watch rules: starts and ends of conditions as events, with the programs that ran then. */
import type { Clock } from '../clock.ts';
import type { CurrentConfig } from '../config/current.ts';
import { Listeners } from '../listeners.ts';
import type { Log } from '../log/log.ts';
import type { HistoryEvent, ProcessUses } from '../wire/history.ts';
import { Conditions, type Turn } from './conditions.ts';
import type { SeriesPoint } from './history.ts';
import { rulesIn } from './rules.ts';

export interface WatchOptions {
  /** `watch.rules`, and the intervals of samples. */
  readonly config: CurrentConfig;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'info'>;
  /** Returns the programs that run now; null if unknown, undefined while `features.enable_processes` is off. */
  readonly running: () => ProcessUses | null | undefined;
}

/** Number of samples that may be missing without a gap. */
const GAP_INTERVALS = 2;

export class Watch {
  readonly #options: WatchOptions;
  readonly #conditions = new Conditions();
  readonly #listeners = new Listeners<[event: HistoryEvent]>();
  #lastAt = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#conditions.setRules(rulesIn(options.config.current.watch), 0);
  }

  /** Returns whether a condition holds whose event has not begun: its processes will be requested. */
  get isWaiting(): boolean {
    return this.#conditions.isWaiting;
  }

  /** Handles the points of a sample, taken at `at`, in Unix seconds. `isWhole`: of all that the history records. */
  onPoints(at: number, points: readonly SeriesPoint[], isWhole = false): void {
    const { config, clock } = this.#options;
    const { stats, history } = config.current;
    const intervalSeconds = Math.max(1, stats.stream_interval_seconds, history.idle_interval_seconds);
    this.#lastAt = at;
    const step = {
      at,
      awake: clock.now() / 1000,
      gapSeconds: GAP_INTERVALS * intervalSeconds,
      points,
      isWhole,
    };
    this.#send(this.#conditions.step(step));
  }

  /** Calls `listener` with each event, until the returned function is called. */
  onEvent(listener: (event: HistoryEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Applies a change of `watch.rules`. */
  reconfigure(): void {
    this.#send(this.#conditions.setRules(rulesIn(this.#options.config.current.watch), this.#lastAt));
  }

  #send(turns: readonly Turn[]): void {
    if (turns.length === 0) return;
    const processes = this.#options.running();
    for (const turn of turns) {
      this.#options.log.info(
        `watch rule ${turn.rule} ${turn.state === 'begin' ? 'begins' : 'ends'}: ${turn.text}`,
      );
      this.#listeners.notify({ ...turn, ...(processes !== undefined && { processes }) });
    }
  }
}
