/** The machine's end of connections that hubs have opened: the protocol of docs/hub-protocol.md, with a session per hub. */

import type { Caller } from '../../access/caller.ts';
import { SleepMark } from '../../clock.ts';
import { MachineEvents } from '../../exporters/mqtt/machine-events.ts';
import type { Holder, Quota } from '../../fairness/quota.ts';
import { Bucket, Rate, type RateLimit } from '../../fairness/rate.ts';
import type { Delivery, Socket, SocketEvents } from '../../http/engine.ts';
import type { Line } from '../../mqtt/line.ts';
import { readMessage, textOf } from '../protocol/frames.ts';
import { topicsBelow } from '../protocol/hub-topics.ts';
import { type HubLink, type HubLinkOptions, HubSession, type ReporterDeps } from './hub-session.ts';

export interface HubServerDeps extends ReporterDeps {
  readonly quota: Pick<Quota, 'set' | 'release'>;
}

/** Messages and control frames of a hub: 20 questions and as many commands per second are answered; without a key all hubs of an address share it. */
const FRAMES: RateLimit = { perSecond: 200, burst: 2400 };
/** A hub that receives nothing for 5 s pings, and renews its leases every 3 s. */
const SILENCE_MS = 15_000;
const LOOK_MS = 5000;
/** Bytes that wait for the hub to take them; answers beyond that are lost. */
const MAX_WAITING_BYTES = 2 * 2 ** 20;
/** Maximum time for the last status to leave: a service has half a second to close its exporters. */
const FAREWELL_MS = 300;
/** Time for the feedback of the action that makes the machine sleep: the state `offline` comes before it. */
const LAST_FEEDBACK_MS = 250;
/** Close codes of RFC 6455: going away, and policy violation. */
const [GOING_AWAY, POLICY] = [1001, 1008] as const;

interface Waiting {
  readonly text: string;
  readonly settle: (delivery: Delivery) => void;
}

/** One connection: a link that ends with it, because the hub makes the next one. */
class AcceptedLink implements HubLink, Pick<Line, 'send'>, SocketEvents, Holder {
  readonly address: string;
  readonly isStream = false;
  readonly #socket: Socket;
  readonly #options: HubLinkOptions;
  readonly #quota: HubServerDeps['quota'];
  readonly #allowance: Bucket;
  readonly #mayHear: () => boolean;
  readonly #sleep: SleepMark;
  /** The first one is on its way: the socket closes itself where more than 64 KiB wait in it. */
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #heardAtMs: number;
  #timer: unknown;

  /** `mayHear`: counts a frame; false: it is one too many. */
  constructor(
    socket: Socket,
    options: HubLinkOptions,
    quota: HubServerDeps['quota'],
    mayHear: () => boolean,
  ) {
    const { clock } = options;
    this.address = socket.address;
    this.#socket = socket;
    this.#options = options;
    this.#quota = quota;
    this.#heardAtMs = clock.now();
    this.#allowance = new Bucket(FRAMES, this.#heardAtMs);
    this.#mayHear = mayHear;
    this.#sleep = new SleepMark(clock);
    this.#look();
    options.beforeOnline(this);
    void this.deliver('status', options.states.online);
    options.onOnline();
  }

  /** Rejects where the connection has ended or too much waits. */
  async send(topic: string, payload: string): Promise<void> {
    const text = textOf(topic, payload);
    if (!this.#socket.isOpen) throw new Error('the connection has ended');
    if (this.#waitingBytes + text.length > MAX_WAITING_BYTES)
      throw new Error('too many bytes are queued for the hub');
    const delivery = await new Promise<Delivery>((settle) => {
      this.#waiting.push({ text, settle });
      this.#keep(text.length);
      if (this.#waiting.length === 1) this.#advance();
    });
    if (delivery === 'closed') throw new Error('the connection has ended');
  }

  async deliver(topic: string, payload: string): Promise<boolean> {
    return await this.send(topic, payload).then(
      () => true,
      () => false,
    );
  }

  /** Ends the connection where the machine has slept since it was made: what arrives may be as old as the sleep. */
  endStale(): boolean {
    const { hasSlept } = this.#sleep;
    if (hasSlept) this.cut('the machine has slept');
    return hasSlept;
  }

  /** Silence ends the connection in any case. */
  check(): void {}

  /** The hub connects again when the machine has woken. */
  setAsleep(isAsleep: boolean): void {
    if (isAsleep) void this.#leave().then(() => setTimeout(() => this.#end(), LAST_FEEDBACK_MS).unref());
  }

  async close(): Promise<void> {
    await this.#leave();
    this.#end();
  }

  async #leave(): Promise<void> {
    // In real time, which is what the network takes.
    const limit = new Promise((resolve) => setTimeout(resolve, FAREWELL_MS).unref());
    await Promise.race([this.deliver('status', this.#options.states.offline), limit]);
  }

  #end(): void {
    this.#socket.end(GOING_AWAY, 'the machine is going away');
  }

  cut(reason = 'too many bytes are queued for the hub'): void {
    this.#socket.end(POLICY, reason);
  }

  onMessage(bytes: Buffer, isBinary: boolean): void {
    this.#hear();
    const message = isBinary ? undefined : readMessage(bytes);
    if (message === undefined) this.cut('a message is malformed');
    else if (this.#socket.isOpen)
      this.#options.onMessage({ ...message, isRetained: false, isRepeated: false, qos: 0 });
  }

  onControlFrame(): void {
    this.#hear();
  }

  onDrained(): void {
    // Each message is followed by the next when it has left.
  }

  onClosed(): void {
    this.#options.clock.clearTimer(this.#timer);
    this.#quota.release(this);
    for (const { settle } of this.#waiting.splice(0)) settle('closed');
    this.#options.onOffline();
  }

  #hear(): void {
    this.#heardAtMs = this.#options.clock.now();
    if (this.#allowance.take(1, this.#heardAtMs) < 0 || !this.#mayHear()) this.cut('the hub sends too much');
  }

  #look(): void {
    const { clock } = this.#options;
    this.#timer = clock.setTimer(() => {
      if (clock.now() - this.#heardAtMs > SILENCE_MS) this.cut('no message within the timeout');
      else this.#look();
    }, LOOK_MS);
  }

  #keep(change: number): void {
    this.#waitingBytes += change;
    this.#quota.set(this, this.#waitingBytes);
  }

  #advance(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#socket.sendTracked(next.text, (delivery) => {
      // It may have been settled with the end of the connection.
      if (this.#waiting[0] !== next) return;
      this.#waiting.shift();
      this.#keep(-next.text.length);
      next.settle(delivery);
      this.#advance();
    });
  }
}

/** A session with the hub at the other end of `socket`, whose events it takes. */
export interface ServedHub {
  readonly events: SocketEvents;
  reconfigure(): void;
  /** Sends the state `offline` and ends the connection. Takes less than half a second. */
  close(): Promise<void>;
}

export class HubServer {
  readonly #deps: HubServerDeps;
  readonly #events: MachineEvents<HubSession>;
  /** Counts frames over all connections of an address: one that was cut has no new burst. */
  readonly #keyless = new Rate(FRAMES);

  constructor(deps: HubServerDeps) {
    this.#deps = deps;
    this.#events = new MachineEvents(deps);
  }

  /** Whether the machine is about to sleep: a hub is not to take it for there. */
  get isAsleep(): boolean {
    return this.#events.isAsleep;
  }

  serve(socket: Socket, { address, isKeyed, key, scopes }: Caller): ServedHub {
    const { log, inhibitor, quota, clock } = this.#deps;
    const mayHear = () => isKeyed || this.#keyless.take(address, clock.now());
    let link: AcceptedLink | undefined;
    const session: HubSession = new HubSession(
      this.#deps,
      {
        subject: 'hub',
        topics: topicsBelow(''),
        peer: { address, isKeyed, key, scopes },
        open(options) {
          link = new AcceptedLink(
            socket,
            {
              ...options,
              onOffline: () => {
                options.onOffline();
                sessions.delete(session);
                log.info('hub: a hub has disconnected', { address });
              },
            },
            quota,
            mayHear,
          );
          return link;
        },
      },
      inhibitor,
    );
    const { sessions } = this.#events;
    this.#events.add(session);
    log.info('hub: a hub has connected', { address, key });
    if (link === undefined) throw new Error('a session opens its link');
    return { events: link, reconfigure: () => session.reconfigure(), close: () => session.close() };
  }

  close(): void {
    this.#events.close();
  }
}
