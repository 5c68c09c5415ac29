/** The door for what hubs ask for once: limits, and the answer or error with the id of its question. */
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log/log.ts';
import { type Flaw, flawOf, isFlaw, isServiceError, type Unread } from '../door/request.ts';
import { Turns } from '../door/turns.ts';
import { type AnswerRooms, answerTo, QUESTIONS, type Reply } from './answers.ts';
import { type Envelope, readEnvelope } from './request.ts';

export interface QuestionOptions extends AnswerRooms {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** What lines of the log begin with. */
  readonly subject: string;
  /** Publishes what was found out, as JSON, for a hub. Resolves when it was sent, or cannot be. Never rejects. */
  readonly answer: (hub: string, text: string) => Promise<unknown>;
  /** The members that each feedback has. */
  readonly stamp: () => object;
}

/** Each until the broker has its answer: no more of them are kept for a broker that takes nothing. */
const MAX_RUNNING = 16;

export class Questions {
  readonly #options: QuestionOptions;
  readonly #turns: Turns;
  #running = 0;

  constructor(options: QuestionOptions) {
    this.#options = options;
    this.#turns = new Turns(options.clock);
  }

  /** Takes a message; never throws. Nothing is remembered of it: to answer twice does nothing. */
  take(payload: Buffer): void {
    const envelope = readEnvelope(payload);
    if (!this.#turns.take() || this.#running >= MAX_RUNNING) this.#refuse(envelope, TOO_MANY);
    else if (isFlaw(envelope)) this.#refuse(envelope, envelope);
    else void this.#run(envelope);
  }

  async #run(envelope: Envelope): Promise<void> {
    const { answer, stamp, log, subject } = this.#options;
    const { id, asker, params, fields } = envelope;
    const { what } = fields;
    this.#running++;
    try {
      // A hub has many clients; what they ask is asked in its name.
      const reply = await answerTo(this.#options, what, params, `hub ${asker.hub}`);
      if (reply === undefined) this.#refuse(envelope, UNKNOWN);
      else if (Buffer.byteLength(reply.json) > reply.maxBytes) this.#refuse(envelope, tooLong(reply));
      else {
        const { json, etag } = reply;
        const said = { command: 'get', id, stage: 'done', success: true, message: 'Done', ...stamp(), etag };
        await answer(asker.hub, `${JSON.stringify(said).slice(0, -1)},"result":${json}}`);
      }
    } catch (error) {
      if (!isServiceError(error))
        log.error(`${subject}: a question of the hub ${asker.hub} failed: ${String(error)}`);
      this.#refuse(envelope, isServiceError(error) ? flawOf(error) : BROKEN);
    } finally {
      this.#running--;
    }
  }

  #refuse({ id, asker }: Envelope | Unread, { code, message, details }: Flaw): void {
    if (asker === undefined) return;
    const said = { command: 'get', id, stage: 'refused', success: false, message, code, details };
    void this.#options.answer(asker.hub, JSON.stringify({ ...said, ...this.#options.stamp() }));
  }
}

const TOO_MANY: Flaw = { code: 'too_many_requests', message: 'There are too many questions.' };
const BROKEN: Flaw = { code: 'internal_error', message: 'The service failed; its log says why.' };
const UNKNOWN: Flaw = {
  code: 'unknown_action',
  message: 'There is no such question.',
  details: { allowed: Object.keys(QUESTIONS) },
};
const tooLong = ({ maxBytes }: Reply): Flaw => ({
  code: 'payload_too_large',
  message: `The answer has more than ${maxBytes} bytes.`,
});
