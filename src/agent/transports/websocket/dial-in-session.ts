/** The connection of an agent that has dialled this hub: the proofs of both sides, then messages. */

import type { Caller } from '../../../access/caller.ts';
import type { Clock } from '../../../clock.ts';
import type { Holder, Quota } from '../../../fairness/quota.ts';
import { CLOSE_CODES, type Socket, type SocketEvents } from '../../../http/engine.ts';
import { type Framed, Parts, readMessage, textOf } from '../../protocol/frames.ts';
import { type Claim, isProof, newNonce, proofOf, readClaim, type Terms } from '../../protocol/proof.ts';
import { ENDINGS, type EndingName } from './endings.ts';
import type { DialPace } from './machine-pace.ts';

export interface SessionOptions {
  /** The name of this hub. */
  readonly name: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly quota: Pick<Quota, 'set' | 'release'>;
  readonly owner: SessionOwner;
}

export interface SessionOwner {
  /** undefined: no agent of that id dials in. */
  keyOf(id: string): string | undefined;
  /** The pace of an agent that has proved itself; or why it may not stay. */
  admit(session: DialSession): DialPace | EndingName;
  /** A message of an agent that has proved itself; valid during the call only. */
  onMessage(session: DialSession, message: Framed): void;
  /** It has sent more than its pace allows, and is ended next. */
  onFlood(session: DialSession): void;
  /** It has ended without a proof. `id`: that was claimed. */
  onRefused(session: DialSession, id: string): void;
  onClosed(session: DialSession): void;
}

const MAX_UNPROVEN_BYTES = 4096;
/** Pings and pongs before that. */
const MAX_UNPROVEN_FRAMES = 8;
/** Agents ping every 5 s. */
const SILENCE_MS = 15_000;
/** Time for the close frame to arrive at a peer that floods the hub or says nothing: it may never close its side. */
const LINGER_MS = 250;
const LINGERING: ReadonlySet<EndingName> = new Set(['flood', 'slow', 'crowded'] as const);
/** A connection that was silent for this long may be gone: pings come every 5 s. */
const DOUBTFUL_MS = 7000;

export class DialSession implements SocketEvents, Holder {
  readonly caller: Caller;
  readonly isStream = false;
  readonly #options: SessionOptions;
  readonly #nonce = newNonce();
  readonly #parts = new Parts();
  #socket: Socket | undefined;
  #claim: Claim | undefined;
  #openedAtMs: number;
  #heardAtMs: number;
  #controlFrames = 0;
  /** Known with the proof. */
  #pace: DialPace | undefined;

  constructor(options: SessionOptions, caller: Caller) {
    this.#options = options;
    this.caller = caller;
    this.#openedAtMs = options.clock.now();
    this.#heardAtMs = this.#openedAtMs;
  }

  get address(): string {
    return this.caller.address;
  }

  /** The id and run of the agent, once it has proved itself. */
  get proven(): Pick<Claim, 'id' | 'run'> | undefined {
    return this.#claim;
  }

  /** Nothing came for longer than from one ping to the next. */
  get isDoubtful(): boolean {
    return this.#options.clock.now() - this.#heardAtMs > DOUBTFUL_MS;
  }

  start(socket: Socket): void {
    this.#socket = socket;
    socket.send(textOf('challenge', JSON.stringify({ nonce: this.#nonce })));
  }

  /** False: it was not sent, and will not be. */
  send(topic: string, payload: string): boolean {
    const socket = this.#socket;
    if (socket === undefined || !socket.isOpen || socket.isFull) return false;
    socket.send(textOf(topic, payload));
    if (topic.startsWith('cmd/')) this.#pace?.expectAnswer();
    return true;
  }

  /** Called every second: ends one that does not prove itself, or has fallen silent. */
  look(nowMs: number, proofLimitMs: number): void {
    if (this.#claim === undefined) {
      if (nowMs - this.#openedAtMs > proofLimitMs) this.end('slow');
    } else if (nowMs - this.#heardAtMs > SILENCE_MS) this.end('silent');
  }

  end(reason: EndingName): void {
    const code = reason === 'closing' ? CLOSE_CODES.goingAway : CLOSE_CODES.policy;
    const socket = this.#socket;
    socket?.end(code, ENDINGS[reason]);
    // In real time, which is what the network takes.
    if (LINGERING.has(reason)) setTimeout(() => socket?.cut(), LINGER_MS).unref();
  }

  cut(): void {
    this.end('malformed');
  }

  onMessage(bytes: Buffer, isBinary: boolean): void {
    this.#heardAtMs = this.#options.clock.now();
    if (this.#claim === undefined) this.#judge(bytes, isBinary);
    else if (!this.#isWithinPace(bytes.length)) return;
    else if (isBinary) this.#join(bytes);
    else this.#deliver(bytes);
  }

  onControlFrame(): void {
    this.#heardAtMs = this.#options.clock.now();
    if (this.#claim !== undefined) this.#isWithinPace(0);
    else if (++this.#controlFrames > MAX_UNPROVEN_FRAMES) this.end('malformed');
  }

  onDrained(): void {
    // A message that did not fit was not taken.
  }

  onClosed(): void {
    this.#options.quota.release(this);
    this.#options.owner.onClosed(this);
  }

  #judge(bytes: Buffer, isBinary: boolean): void {
    const { owner, name } = this.#options;
    const message = isBinary || bytes.length > MAX_UNPROVEN_BYTES ? undefined : readMessage(bytes);
    const claim = message?.topic === 'proof' ? readClaim(message.payload) : undefined;
    if (claim === undefined) {
      owner.onRefused(this, '');
      this.end('malformed');
      return;
    }
    const { id, run, nonce: agentNonce, proof } = claim;
    const terms: Terms = { id, run, hubNonce: this.#nonce, agentNonce };
    const key = owner.keyOf(id);
    // An unknown id takes as long as a wrong key.
    if (!isProof(proof, key ?? this.#nonce, 'agent', terms) || key === undefined) {
      owner.onRefused(this, id);
      this.end('refused');
      return;
    }
    this.#claim = claim;
    const admitted = owner.admit(this);
    if (typeof admitted === 'string') {
      this.end(admitted);
      return;
    }
    this.#pace = admitted;
    this.send('proof', JSON.stringify({ hub: name, proof: proofOf(key, 'hub', terms) }));
  }

  /** Counts a frame, and ends the connection with the first that is too many. */
  #isWithinPace(bytes: number): boolean {
    const { owner, clock } = this.#options;
    if (this.#pace?.take(bytes, clock.now()) !== false) return true;
    owner.onFlood(this);
    this.end('flood');
    return false;
  }

  #join(frame: Buffer): void {
    const whole = this.#parts.take(frame);
    this.#options.quota.set(this, this.#parts.bufferedBytes);
    if (whole === 'bad') this.end('malformed');
    else if (whole !== 'more') this.#deliver(whole);
  }

  #deliver(bytes: Buffer): void {
    const message = readMessage(bytes);
    if (message === undefined) this.end('malformed');
    else this.#options.owner.onMessage(this, message);
  }
}
