/** Answers the questions of hubs, each once: limits, and the answer or error with the id of its question. */

import type { Caller } from '../../access/caller.ts';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
import { type Flaw, flawOf, isFlaw, type Unread } from '../../exporters/mqtt/commands/command-request.ts';
import { Turns } from '../../exporters/mqtt/commands/sender-turns.ts';
import { Places } from '../../fairness/places.ts';
import type { Log } from '../../log/log.ts';
import { checkScopeOfHub, paramsFor, QUESTIONS, REQUESTS, type RequestRow } from '../../machine/requests.ts';
import { type AnswerDeps, CLOCK, jsonOf } from './answers.ts';
import { type Envelope, readEnvelope } from './hub-request.ts';

export interface QuestionOptions extends Pick<AnswerDeps, 'machine'> {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** The beginning of its lines in the log. */
  readonly subject: string;
  /** The other side, by its connection. */
  readonly peer: Pick<Caller, 'key' | 'scopes'>;
  /** Publishes what was found out, as JSON, for a hub. Resolves when it was sent, or cannot be. Never rejects. */
  readonly answer: (hub: string, text: string) => Promise<unknown>;
  /** The members that each feedback has. */
  readonly stamp: () => object;
}

/**
 * Each until the broker has its answer: no more of them are kept for a broker that takes nothing. One client of a hub may
 * have a quarter.
 */
const MAX_RUNNING = 16;

export class Questions {
  readonly #options: QuestionOptions;
  readonly #turns: Turns;
  /** A hub asks for the clock before commands: what others ask must not take its turn. */
  readonly #clockTurns: Turns;
  readonly #running = new Places(MAX_RUNNING);

  constructor(options: QuestionOptions) {
    this.#options = options;
    this.#turns = new Turns(options.clock);
    this.#clockTurns = new Turns(options.clock);
  }

  /** Takes a message; never throws. Nothing is remembered of it: to answer twice does nothing. */
  take(payload: Buffer): void {
    const envelope = readEnvelope(payload, this.#options.peer);
    if (isFlaw(envelope)) this.#refuse(envelope, this.#turns.take() ? envelope : TOO_MANY);
    else if (this.#isTaken(envelope)) void this.#run(envelope);
    else this.#refuse(envelope, TOO_MANY);
  }

  #isTaken({ hub, caller, fields }: Envelope): boolean {
    if (fields['what'] === CLOCK) return this.#clockTurns.take(hub);
    return this.#turns.take(hub) && this.#running.hasCapacity(caller);
  }

  async #run(envelope: Envelope): Promise<void> {
    const { answer, stamp, log, subject, machine } = this.#options;
    const { id, hub, caller, params, fields } = envelope;
    const { scopes } = caller;
    const { what } = fields;
    const row = typeof what === 'string' ? REQUESTS.get(what) : undefined;
    if (what !== CLOCK && (row === undefined || row.isCommand)) {
      this.#refuse(envelope, UNKNOWN);
      return;
    }
    this.#running.add(caller);
    try {
      if (row !== undefined) checkScopeOfHub(scopes, row.name);
      const asked = row && { what: row.name, params: paramsFor({ what: row.name, params }, scopes) };
      const found = asked && (await machine.ask({ ...asked, client: caller }));
      const json = found === undefined ? '{}' : jsonOf(found);
      if (row !== undefined && Buffer.byteLength(json) > row.maxBytes) this.#refuse(envelope, tooLong(row));
      else {
        const etag = found?.etag;
        const said = { command: 'get', id, stage: 'done', success: true, message: 'Done', ...stamp(), etag };
        await answer(hub, `${JSON.stringify(said).slice(0, -1)},"result":${json}}`);
      }
    } catch (error) {
      if (!(error instanceof ServiceError))
        log.error(`${subject}: a request from the hub ${hub} failed: ${String(error)}`);
      this.#refuse(envelope, error instanceof ServiceError ? flawOf(error) : BROKEN);
    } finally {
      this.#running.remove(caller);
    }
  }

  #refuse({ id, caller }: Envelope | Unread, { code, message, details }: Flaw): void {
    if (caller?.via === undefined) return;
    const said = { command: 'get', id, stage: 'refused', success: false, message, code, details };
    void this.#options.answer(caller.via.hub, JSON.stringify({ ...said, ...this.#options.stamp() }));
  }
}

const TOO_MANY: Flaw = { code: 'too_many_requests', message: 'Too many requests.' };
const BROKEN: Flaw = { code: 'internal_error', message: 'The service failed; its log has the reason.' };
const UNKNOWN: Flaw = {
  code: 'unknown_action',
  message: 'Unknown request.',
  details: { allowed: [CLOCK, ...QUESTIONS] },
};
const tooLong = ({ maxBytes }: Pick<RequestRow, 'maxBytes'>): Flaw => ({
  code: 'payload_too_large',
  message: `The answer has more than ${maxBytes} bytes.`,
});
