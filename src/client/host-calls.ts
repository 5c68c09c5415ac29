/** The questions and commands of one machine over a WebSocket. */
import type { HistoryPayload, ProcessHistoryPayload } from '../wire/history.ts';
import type { Asker } from './calls.ts';
import type { Feedback, Topic, WakeFeedback } from './messages.ts';
import { Processes } from './processes.ts';
import { type Snapshot, snapshotOf } from './snapshot.ts';
import type {
  AskOptions,
  CommandOptions,
  GetOptions,
  HistoryOptions,
  MediaAction,
  MediaOptions,
  PowerAction,
  PowerOptions,
} from './socket-options.ts';

export class HostCalls {
  readonly #asker: Asker;
  readonly processes: Processes;

  constructor(asker: Asker) {
    this.#asker = asker;
    this.processes = new Processes(asker);
  }

  /** The present state of `topics`, once. */
  get(topics: readonly Topic[], { detail, ...options }: GetOptions = {}): Promise<Snapshot> {
    if (topics.length === 0) return Promise.resolve({});
    return this.#asker.ask('get', { topics, detail }, options, snapshotOf(topics));
  }

  media(action: MediaAction, { value, player, ...options }: MediaOptions = {}): Promise<Feedback> {
    return this.#asker.command('media', { action, value, player }, options);
  }

  power(action: PowerAction, { delay, force, ...options }: PowerOptions = {}): Promise<Feedback> {
    return this.#asker.command('power', { action, delay, force }, options, (delay ?? 0) * 1000);
  }

  /** Wakes another machine that is listed in the service's configuration. */
  wake(name: string, options: CommandOptions = {}): Promise<WakeFeedback> {
    return this.#asker.command('wake', { host: name }, options);
  }

  /** Reads recorded values. Rejects with FEATURE_DISABLED where nothing is recorded. */
  history({ series, since, until, step, ...options }: HistoryOptions = {}): Promise<HistoryPayload> {
    return this.#asker.question('history', { series, since, until, step }, 'history', options);
  }

  /** Which programs used most at a moment: Unix seconds, or negative: before now. */
  processesAt(at: number, options: AskOptions = {}): Promise<ProcessHistoryPayload> {
    return this.#asker.question('process_history', { at }, 'process_history', options);
  }
}
