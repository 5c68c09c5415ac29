/**
 * A session of a hub and a machine at a broker. Its payloads are numbered: one that a broker or a proxy repeats is ignored,
 * and where one is lost the session ends. So nothing is carried out twice.
 */
import { QUOTAS } from '../../fairness/limits.ts';
import { type Carrier, type CarrierEvents, down, type Failure, isPlain } from '../carrier.ts';
import { endOf, type Payload, payloadsOf } from './payload.ts';

/** Shared by all sessions of one side. */
export interface Intake {
  /** A longer frame ends its session. */
  readonly maxFrameBytes: number;
  /** Bytes of the frames of which more is to come. */
  partBytes: number;
}

const NO_PARTS = Buffer.alloc(0);

const flood = (reason: string): Failure => ({ ...down(reason), isFlood: true });

export class BrokerCarrier implements Carrier {
  readonly session: string;
  /** Rejects where the payload was not sent. */
  readonly #publish: (payload: Buffer) => Promise<void>;
  readonly #intake: Intake;
  /** The parts of a frame of which more is to come. */
  #parts: Buffer = NO_PARTS;
  #events: CarrierEvents | undefined;
  #sent = 0;
  #taken = 0;
  #waitingBytes = 0;
  #isOver = false;

  constructor(session: string, intake: Intake, publish: (payload: Buffer) => Promise<void>) {
    this.session = session;
    this.#intake = intake;
    this.#publish = publish;
  }

  /** Begins the session as a hub; `events`: of the frames of the machine. */
  open(events: CarrierEvents): void {
    this.#events = events;
    this.send('');
  }

  /** Begins the session as a machine, after the opening of the hub. */
  accept(events: CarrierEvents): void {
    this.#events = events;
    this.#taken = 1;
  }

  get isOpen(): boolean {
    return !this.#isOver;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  send(text: string, onSent?: () => void): void {
    if (this.#isOver) return;
    const payloads = payloadsOf(this.session, this.#sent, text);
    this.#sent += payloads.length;
    for (const payload of payloads)
      this.#hand(payload).then(
        () => payload === payloads.at(-1) && onSent?.(),
        () => this.#fail(down('a message was not taken by the broker')),
      );
  }

  end(reason: string): void {
    if (this.#isOver) return;
    this.#finish();
    this.#publish(endOf(this.session, reason)).catch(() => undefined);
  }

  /** Ends it without a payload: the other side has ended it, or cannot be reached. */
  lost(failure: Failure): void {
    if (this.#isOver) return;
    this.#finish();
    this.#events?.onEnd(failure);
  }

  /** Takes a payload of this session. */
  take({ number, hasMore, bytes }: Payload): void {
    if (this.#isOver) return;
    if (number === undefined) this.lost(down(whyEnded(bytes)));
    else if (number > this.#taken) this.#fail(down('messages were lost on the way'));
    else if (number === this.#taken) {
      this.#taken++;
      this.#join(bytes, hasMore);
    }
  }

  #join(bytes: Buffer, hasMore: boolean): void {
    const { maxFrameBytes } = this.#intake;
    if (this.#parts.length + bytes.length > maxFrameBytes)
      this.#fail(flood('it sent a message that is too long'));
    else if (!hasMore && this.#parts.length === 0) this.#events?.onFrame(bytes);
    else {
      const joined = Buffer.concat([this.#parts, bytes]);
      this.#keep(hasMore ? joined : NO_PARTS);
      if (!hasMore) this.#events?.onFrame(joined);
      else if (this.#intake.partBytes > QUOTAS.brokerParts.maxBytes)
        this.#fail(flood('too many messages arrive in parts'));
      else this.#events?.onControl();
    }
  }

  #keep(parts: Buffer): void {
    this.#intake.partBytes += parts.length - this.#parts.length;
    this.#parts = parts;
  }

  async #hand(payload: Buffer): Promise<void> {
    this.#waitingBytes += payload.length;
    await this.#publish(payload);
    this.#waitingBytes -= payload.length;
  }

  #fail(failure: Failure): void {
    if (this.#isOver) return;
    this.end(failure.reason);
    this.#events?.onEnd(failure);
  }

  #finish(): void {
    this.#isOver = true;
    this.#keep(NO_PARTS);
  }
}

function whyEnded(bytes: Buffer): string {
  const reason = bytes.toString('latin1', 0, 101);
  return isPlain(reason) ? `it ended the session: ${reason}` : 'it ended the session';
}
