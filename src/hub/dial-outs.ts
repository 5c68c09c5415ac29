/** The machines of `hub.agents` that this hub dials: when each is tried, and why it cannot be reached. */
import { isDeepStrictEqual } from 'node:util';
import type { AgentEntry } from '../config/rows/hub-rows.ts';
import { QUOTAS } from '../fairness/limits.ts';
import type { Configured } from '../machine/machines.ts';
import { RemoteMachine } from '../machine/remote.ts';
import type { RemoteDeps, RemoteOptions } from '../machine/remote-deps.ts';
import type { Failure } from '../socket/carrier.ts';
import { Dial, type DialOptions } from '../socket/dial.ts';
import { peerTargetOf } from '../socket/web-socket.ts';
import { OPERATIONS } from '../wire/operations.ts';

type OutgoingEntry = AgentEntry & { readonly url: string };
const isOutgoing = (entry: AgentEntry): entry is OutgoingEntry => entry.url !== undefined;

/** One machine: a session, or a timer for the next attempt. */
class DialOut implements Configured, RemoteOptions {
  readonly hub: RemoteDeps;
  readonly #outs: DialOuts;
  readonly machine: RemoteMachine;
  #entry: OutgoingEntry;
  #timer: unknown;
  /** Attempts since the machine was up. */
  #failures = 0;
  #begunAtMs = 0;
  /** When it was there for the last time, or was added. */
  #lostAtMs: number;
  #nextAtMs = 0;
  /** A viewer brings the next attempt forward to this time at most. */
  #earliestMs = Number.POSITIVE_INFINITY;

  /** `outs`: those of the hub, which it joins. */
  constructor(id: string, entry: OutgoingEntry, outs: DialOuts) {
    this.hub = outs.deps;
    this.#outs = outs;
    outs.all.add(this);
    this.#entry = entry;
    this.#lostAtMs = this.hub.clock.now();
    this.machine = new RemoteMachine(id, this);
  }

  entry(): OutgoingEntry {
    return this.#entry;
  }

  suits(entry: AgentEntry): boolean {
    return isOutgoing(entry);
  }

  /** Another entry of the same id: viewers stay. */
  reconfigure(entry: AgentEntry): void {
    if (!isOutgoing(entry)) return;
    const shown = { name: '', labels: {} };
    const isSame = isDeepStrictEqual({ ...entry, ...shown }, { ...this.#entry, ...shown });
    this.#entry = entry;
    if (isSame) return;
    this.#failures = 0;
    this.#lostAtMs = this.hub.clock.now();
    this.machine.forget();
    this.machine.lost('its entry in hub.agents changed; not contacted since');
    this.connectIn(0);
  }

  removed(): void {
    this.#outs.all.delete(this);
    this.close();
  }

  close(): void {
    this.hub.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  connectIn(delayMs: number): void {
    const { clock } = this.hub;
    clock.clearTimer(this.#timer);
    this.#nextAtMs = clock.now() + delayMs;
    this.#timer = clock.setTimer(() => {
      // Thousands are connected, and would keep it.
      this.#timer = undefined;
      this.#connect();
    }, delayMs);
  }

  onMissed(): void {
    const { clock, random } = this.hub;
    if (this.#timer === undefined) return;
    // A millisecond per machine: a viewer may want all of them.
    const atMs = Math.max(clock.now(), this.#earliestMs) + random() * this.#outs.all.size;
    if (atMs < this.#nextAtMs) this.connectIn(atMs - clock.now());
  }

  #connect(): void {
    const { clock, times } = this.hub;
    const { url, pin, key_file: keyFile } = this.#entry;
    this.#begunAtMs = clock.now();
    this.#earliestMs = this.#begunAtMs + times.maxDelayMs;
    const peer = this.machine.connect();
    const { path } = OPERATIONS.openSocket;
    const request = { target: peerTargetOf(url, pin), path, key: keyFile?.secret };
    peer.start(new Dial(request, this.#outs.options, peer));
  }

  onEnd({ isFlood }: Failure, hadBegun: boolean): void {
    const { clock, times, random } = this.hub;
    const { initialDelayMs, maxDelayMs, offDelayMs, floodMs } = times;
    const nowMs = clock.now();
    if (hadBegun) {
      this.#lostAtMs = nowMs;
      this.#failures = 0;
    }
    if (isFlood === true) {
      this.connectIn(floodMs * (1 - random() / 2));
      this.#earliestMs = this.#nextAtMs;
      return;
    }
    // An eighth of the time that it has been gone.
    const longestMs = Math.min(offDelayMs, Math.max(maxDelayMs, (nowMs - this.#lostAtMs) / 8));
    const step = Math.min(longestMs, initialDelayMs * 2 ** this.#failures++);
    const waitMs = step * (1 - random() / 2);
    // From one attempt to the next: an attempt without an answer takes seconds itself.
    const spentMs = hadBegun ? 0 : nowMs - this.#begunAtMs;
    this.connectIn(Math.max(Math.min(waitMs, initialDelayMs), waitMs - spentMs));
  }
}

export class DialOuts {
  readonly deps: RemoteDeps;
  readonly all = new Set<DialOut>();
  readonly options: DialOptions;

  constructor(deps: RemoteDeps) {
    this.deps = deps;
    this.options = {
      userAgent: 'hostwire-hub',
      maxFrameBytes: QUOTAS.machineFrame.maxBytes,
      isOneOfMany: true,
      limitMs: deps.times.headMs,
      silenceMs: Number.POSITIVE_INFINITY,
      pinKey: 'hub.agents',
      clock: deps.clock,
    };
  }

  /** A machine of the configuration. Its first attempt begins within `spreadMs`. */
  add(id: string, entry: AgentEntry, spreadMs: number): Configured {
    if (!isOutgoing(entry)) throw new Error('an entry without a URL cannot be dialled');
    const dialOut = new DialOut(id, entry, this);
    dialOut.connectIn(this.deps.random() * spreadMs);
    return dialOut;
  }

  close(): void {
    for (const dialOut of this.all) dialOut.close();
  }
}
