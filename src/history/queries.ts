/** Answers queries about the history, whichever transport they arrive by. */
import { type Clock, type Defer, deferToNextTurn } from '../clock.ts';
import { featureDisabled, ServiceError } from '../errors.ts';
import { checkParams, type Params } from '../params.ts';
import { SharedAnswers } from '../processes/answers.ts';
import type { HistoryEvent } from '../wire/history.ts';
import { historyRequest, processHistoryRequest } from '../wire/history-requests.ts';
import { HistoryAnswer } from './answers.ts';
import { encodeHistory } from './encode.ts';
import type { History } from './history.ts';
import { inTurns } from './turns.ts';

export interface HistoryQueriesOptions {
  readonly history: History;
  readonly clock: Clock;
  /** The machine's clock. */
  readonly unixMs: () => number;
  /** For tests. */
  readonly defer?: Defer;
}

const TOO_MANY =
  'The answer would exceed 100,000 numbers; request fewer series, a shorter period or a longer step.';

export class HistoryQueries {
  readonly #options: HistoryQueriesOptions;
  readonly #answers: SharedAnswers<HistoryAnswer>;

  constructor(options: HistoryQueriesOptions) {
    this.#options = options;
    this.#answers = new SharedAnswers(options.clock, 'the history');
  }

  get isOn(): boolean {
    return this.#options.history.isOn;
  }

  /**
   * Returns a HistoryPayload for the data of a `historyRequest`; `processes: false`: its events name none. `client`: whose
   * turn it uses. Rejects with
   * ServiceError: `feature_disabled`, `invalid_value`, `not_possible_now` (too many queries at the same time).
   */
  async series(params: Params, client: string): Promise<HistoryAnswer> {
    this.#checkOn();
    const asked = checkParams(historyRequest, params);
    const from = this.#momentOf(asked.since);
    const until = asked.until === undefined ? undefined : this.#momentOf(asked.until);
    if (until !== undefined && from > until)
      throw new ServiceError('invalid_value', 'since must not be after until.');
    // The client may not see processes.
    const isBare = params['processes'] === false;
    const question = JSON.stringify(['series', asked, isBare]);
    // The history itself resolves times relative to now: `-300` is exactly as long as it keeps each second.
    const since = from === 0 ? 0 : asked.since;
    return await this.#answers.find(question, client, () =>
      this.#series({ series: asked.series, since, until, step: asked.step }, isBare),
    );
  }

  /** Returns a ProcessHistoryPayload for a `processHistoryRequest`. Rejects as `series`, and with `missing_field`. */
  async processesAt(params: Params, client: string): Promise<HistoryAnswer> {
    this.#checkOn();
    const { at } = checkParams(processHistoryRequest, params);
    const moment = this.#momentOf(at);
    return await this.#answers.find(
      JSON.stringify(['processes', at]),
      client,
      async () => new HistoryAnswer([JSON.stringify(await this.#options.history.processesAt(moment))]),
    );
  }

  /** Calls `listener` with each event of a watch rule, until the returned function is called. */
  onEvent(listener: (event: HistoryEvent) => void): () => void {
    return this.#options.history.onEvent(listener);
  }

  #checkOn(): void {
    if (!this.isOn) throw featureDisabled('The history');
  }

  /** Returns Unix seconds: a negative number is before now. Times before 1970 become 0. */
  #momentOf(seconds: number): number {
    return seconds < 0 ? Math.max(0, this.#options.unixMs() / 1000 + seconds) : seconds;
  }

  async #series(request: Parameters<History['query']>[0], isBare: boolean): Promise<HistoryAnswer> {
    const { history, defer = deferToNextTurn } = this.#options;
    const payload = await history.query(request);
    if (payload === 'too_many') throw new ServiceError('invalid_value', TOO_MANY);
    const events = isBare ? payload.events.map(({ processes: _, ...event }) => event) : payload.events;
    return new HistoryAnswer(await inTurns(encodeHistory({ ...payload, events }), defer));
  }
}
