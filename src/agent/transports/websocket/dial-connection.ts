/** One connection to a hub that was dialled: from the proofs of both sides to its end. A new one is made after each end. */
import type { WebSocket } from 'ws';
import type { Clock } from '../../../clock.ts';
import { Bucket, type RateLimit } from '../../../fairness/rate.ts';
import type { Line, LineEvents } from '../../../mqtt/line.ts';
import { openWebSocket, type PeerTarget } from '../../../socket/web-socket.ts';
import { framesOf, readMessage } from '../../protocol/frames.ts';
import { isProof, newNonce, proofOf, readNonce, readProof, type Terms } from '../../protocol/proof.ts';
import { ENDINGS, pauseAfter, whyClosed, whyFailed, whyNotUpgraded } from './endings.ts';

export interface DialOptions extends LineEvents {
  readonly target: PeerTarget;
  readonly key: string;
  /** The id of this agent. */
  readonly id: string;
  readonly run: string;
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
}

/** For the connection, and for the proofs. */
const OPEN_LIMIT_MS = 10_000;
/** Longer than any command. */
const MAX_PAYLOAD_BYTES = 128 * 1024;
/** Maximum size of the messages of a hub that has not proved itself. */
const MAX_UNPROVEN_BYTES = 4096;
/** Pings and pongs before that. */
const MAX_UNPROVEN_FRAMES = 8;
/**
 * Messages, pings and pongs of a hub. At most 20 questions and as many commands per second are answered, and a hub waits
 * for 32 answers at a time: more than these are read later, so that a hub with a busy viewer is slowed, and not lost.
 */
const FRAMES: RateLimit = { perSecond: 200, burst: 400 };
/** As many beyond these were read at a time: no hub has them under way. */
const MAX_EXCESS = 2000;
/** A message counts once more for each of these bytes. */
const FRAME_BYTES = 4096;
/** The hub answers a ping immediately: three lost ones end the connection. */
const PING_MS = 5000;
const SILENCE_MS = 15_000;
/** Maximum bytes queued for a peer that does not read. */
const MAX_WAITING_BYTES = 2 * 1024 * 1024;
/** Maximum time for the farewell to leave. */
const LEAVE_MS = 100;

type Stage = 'opening' | 'proving' | 'ready' | 'ended';

export class DialConnection implements Line {
  readonly #options: DialOptions;
  readonly #socket: WebSocket;
  #stage: Stage = 'opening';
  #terms: Terms | undefined;
  /** Why it ends; the first reason is the cause of the others. */
  #reason: string | undefined;
  #pauseMs = 0;
  #isLeave = false;
  #timer: unknown;
  #heardAtMs: number;
  readonly #allowance: Bucket;
  #unprovenFrames = 0;
  /** Nothing is read until it fires. */
  #pause: unknown;
  /** Rejects what was not sent when it ends. */
  readonly #open = new Set<(error: Error) => void>();

  constructor(options: DialOptions) {
    const { target, clock } = options;
    this.#options = options;
    this.#heardAtMs = clock.now();
    this.#allowance = new Bucket(FRAMES, clock.now());
    this.#timer = clock.setTimer(() => this.cut('no answer from the hub within the timeout'), OPEN_LIMIT_MS);
    this.#socket = openWebSocket(target, {
      limitMs: OPEN_LIMIT_MS,
      maxPayloadBytes: MAX_PAYLOAD_BYTES,
      headers: { 'User-Agent': 'hostwire-agent' },
      isOneOfMany: false,
    });
    this.#socket
      // With the binary type that is set by default each message is one Buffer.
      .on('message', (data, isBinary) => this.#take(data as Buffer, isBinary))
      .on('ping', () => this.#takeControlFrame())
      .on('pong', () => this.#takeControlFrame())
      .on('unexpected-response', (request, { statusCode = 0 }) => {
        this.#note(whyNotUpgraded(statusCode));
        request.destroy();
        this.#end();
      })
      .on('error', (error) => {
        this.#note(whyFailed(error));
        // The library would wait 30 s for the close frame of a hub that breaks the protocol.
        if (this.#socket.readyState !== this.#socket.CONNECTING) this.#socket.terminate();
      })
      .on('close', (code, reason) => {
        this.#note(whyClosed(code, reason.toString()), pauseAfter(reason.toString()));
        this.#end();
      });
  }

  get isReady(): boolean {
    return this.#stage === 'ready';
  }

  async send(topic: string, payload: string): Promise<void> {
    if (!this.isReady) throw new Error('not connected');
    const frames = framesOf(topic, payload);
    if (this.#socket.bufferedAmount + payload.length > MAX_WAITING_BYTES)
      throw new Error('too many bytes are queued for the hub');
    await new Promise<void>((resolve, reject) => {
      this.#open.add(reject);
      frames.forEach((frame, at) => {
        // The last one has left after the others.
        this.#socket.send(frame, () => {
          if (at < frames.length - 1 || !this.#open.delete(reject)) return;
          resolve();
        });
      });
    });
  }

  /** As `send`: there is no broker between the two. */
  async deliver(topic: string, payload: string): Promise<void> {
    await this.send(topic, payload);
  }

  async leave(): Promise<void> {
    if (this.#stage === 'ended') return;
    this.#isLeave = true;
    const ended = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    this.#socket.close(1000);
    // In real time, which is what the network takes.
    setTimeout(() => this.#socket.terminate(), LEAVE_MS).unref();
    await ended;
  }

  cut(reason: string): void {
    this.#note(reason);
    this.#socket.terminate();
  }

  #take(bytes: Buffer, isBinary: boolean): void {
    if (this.#stage === 'ended') return;
    this.#hear(bytes.length);
    if (this.#stage !== 'ready' && (isBinary || bytes.length > MAX_UNPROVEN_BYTES)) {
      this.cut('the server at this URL is not a hub');
      return;
    }
    const message = isBinary ? undefined : readMessage(bytes);
    if (message === undefined) this.cut('the hub sent a malformed message');
    else if (this.#stage === 'opening') this.#prove(message.payload);
    else if (this.#stage === 'proving') this.#judge(message.payload);
    else this.#options.onMessage({ ...message, isRetained: false, isRepeated: false, qos: 0 });
  }

  /** Sends this side's proof first: a stranger who dials a hub gets nothing that was made with a key. */
  #prove(payload: Buffer): void {
    const { id, run, key } = this.#options;
    const hubNonce = readNonce(payload);
    if (hubNonce === undefined) {
      this.cut('the server at this URL is not a hub');
      return;
    }
    const agentNonce = newNonce();
    this.#terms = { id, run, hubNonce, agentNonce };
    this.#stage = 'proving';
    const claim = { id, run, nonce: agentNonce, proof: proofOf(key, 'agent', this.#terms) };
    for (const frame of framesOf('proof', JSON.stringify(claim))) this.#socket.send(frame);
  }

  #judge(payload: Buffer): void {
    const { key, clock, onReady } = this.#options;
    const proof = readProof(payload);
    const terms = this.#terms;
    if (proof === undefined || terms === undefined || !isProof(proof, key, 'hub', terms)) {
      this.cut('the server at this URL did not prove that it has the key of this machine');
      return;
    }
    this.#stage = 'ready';
    clock.clearTimer(this.#timer);
    this.#ping();
    onReady();
  }

  #ping(): void {
    const { clock } = this.#options;
    this.#timer = clock.setTimer(() => {
      if (clock.now() - this.#heardAtMs > SILENCE_MS - PING_MS / 2)
        this.cut('no message from the hub within the timeout');
      else {
        this.#socket.ping();
        this.#ping();
      }
    }, PING_MS);
  }

  #takeControlFrame(): void {
    if (this.#stage === 'ended') return;
    this.#hear(0);
    if (this.#stage !== 'ready' && ++this.#unprovenFrames > MAX_UNPROVEN_FRAMES)
      this.cut('the server at this URL is not a hub');
  }

  /** Counts what was read; after more than the rate nothing is read until it is within it again. */
  #hear(bytes: number): void {
    const { clock } = this.#options;
    this.#heardAtMs = clock.now();
    const left = this.#allowance.take(1 + bytes / FRAME_BYTES, this.#heardAtMs);
    if (left < -MAX_EXCESS) this.cut('the hub sends too much');
    else if (left < 0 && this.#pause === undefined) {
      this.#socket.pause();
      this.#resumeIn(-left);
    }
  }

  /** Reads on when `frames` are allowed, unless more of what was read before has arrived by then. */
  #resumeIn(frames: number): void {
    const { clock } = this.#options;
    this.#pause = clock.setTimer(
      () => {
        this.#pause = undefined;
        const left = this.#allowance.take(0, clock.now());
        if (left < 0) this.#resumeIn(-left);
        else this.#socket.resume();
      },
      (frames / FRAMES.perSecond) * 1000,
    );
  }

  #note(reason: string, pauseMs = 0): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#pauseMs = pauseMs;
  }

  #end(): void {
    if (this.#stage === 'ended') return;
    const wasReady = this.isReady;
    this.#stage = 'ended';
    this.#options.clock.clearTimer(this.#timer);
    this.#options.clock.clearTimer(this.#pause);
    for (const reject of [...this.#open]) reject(new Error('the connection has ended'));
    this.#open.clear();
    this.#options.onEnd({
      reason: this.#reason ?? ENDINGS.closing,
      wasReady,
      pauseMs: this.#pauseMs,
      isLeave: this.#isLeave,
    });
  }
}
