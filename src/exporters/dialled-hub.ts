/**
 * Keeps a connection to a hub that this machine dials: makes it, makes it again with growing waits, and again after a sleep.
 * On it the ends change roles: this machine serves the hub.
 */
import { type AddressRules, canonicalPeer, matches, parsePeer } from '../access/addresses.ts';
import type { Caller } from '../access/caller.ts';
import { isLoopback } from '../access/exposure.ts';
import { type Clock, SleepMark } from '../clock.ts';
import { QUOTAS } from '../fairness/limits.ts';
import type { Log } from '../log/log.ts';
import { Backoff, VIEWERS_LAST_MS } from '../mqtt/backoff.ts';
import type { Scopes } from '../scopes.ts';
import { type Carrier, type CarrierEvents, type Failure, refused } from '../socket/carrier.ts';
import { Dial } from '../socket/dial.ts';
import { peerTargetOf } from '../socket/web-socket.ts';
import { HUB_OPERATIONS } from '../wire/hub-operations.ts';

export interface DialledHubDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** The id of this machine: `[A-Za-z0-9_-]`. */
  readonly id: string;
  /** Another one after each start. */
  readonly run: string;
  readonly random: () => number;
  /** Begins a session with the client at the other end, which takes the events. */
  readonly serve: (carrier: Carrier, caller: Caller) => CarrierEvents;
}

/** Its part of the configuration. */
export interface DialledHubSettings {
  readonly url: string;
  readonly key: string;
  readonly pin: string | undefined;
  /** Its scopes here. */
  readonly scopes: Scopes;
  /** Where the key may be sent without TLS, beside this machine. */
  readonly plainNetworks: AddressRules;
}

/** The name of the key with which a dialled hub is audited: no key of `auth.keys` can have it. */
const KEY_NAME = 'hub.url';
/** Until the upgrade is answered. */
const OPEN_LIMIT_MS = 10_000;
/** A hub pings every 5 s. */
const SILENCE_MS = 20_000;
const LOOK_MS = 5000;
/** Hubs count wrong keys, also those of others at the same address. */
const REFUSED_MS = 15_000;

const REASONS = {
  401: 'its hub.agents has no machine with this id and this key (401)',
  403: 'it does not allow the address of this machine (403)',
  404: 'the server at this URL does not accept machines (404)',
  409: 'another machine is connected to it with this id (409)',
  503: 'it has no room for more connections (503)',
};

/** Without TLS the key is sent to this machine, and to networks that the configuration trusts. */
export function whyNotPlain(peer: string, plainNetworks: AddressRules): Failure | undefined {
  const address = parsePeer(peer);
  if (address !== undefined && (isLoopback(address.text) || matches(plainNetworks, address)))
    return undefined;
  return refused(
    `the key of this machine is not sent to ${address?.text ?? 'an unknown address'} without TLS; use wss://, or add that network to hub.plain_networks`,
  );
}

export class DialledHub implements Carrier {
  readonly #deps: DialledHubDeps;
  readonly #settings: DialledHubSettings;
  /** For the log. */
  readonly #name: string;
  readonly #backoff: Backoff;
  /** Since the last attempt to connect. */
  readonly #sleep: SleepMark;
  /** Reasons that were logged since there was a connection. */
  readonly #logged = new Set<string>();
  #dial: Dial | undefined;
  #session: CarrierEvents | undefined;
  #timer: unknown;
  #begunAtMs = 0;
  #openedAtMs = 0;
  #isClosed = false;

  constructor(deps: DialledHubDeps, settings: DialledHubSettings) {
    this.#deps = deps;
    this.#settings = settings;
    this.#name = peerTargetOf(settings.url, settings.pin).name;
    this.#backoff = new Backoff(deps.random, VIEWERS_LAST_MS);
    this.#sleep = new SleepMark(deps.clock);
    // The name of its entry at the hub.
    deps.log.info(`hub: this machine dials ${this.#name} as ${deps.id}`);
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#dial?.isOpen === true;
  }

  get waitingBytes(): number {
    return this.#dial?.waitingBytes ?? 0;
  }

  send(text: string, onSent?: () => void): void {
    this.#dial?.send(text, onSent);
  }

  /** Called by the session, which has logged why. */
  end(reason: string): void {
    const dial = this.#dial;
    if (dial === undefined) return;
    this.#lose();
    dial.end(reason);
    this.#retryIn(this.#nextDelayMs(true));
  }

  /** The machine is awake: what has arrived since may be as old as the sleep. */
  wake(): void {
    if (this.#isClosed) return;
    this.#backoff.reset();
    this.#leave('the machine has slept');
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#leave('the configuration of this machine has changed');
  }

  #leave(reason: string): void {
    this.#deps.clock.clearTimer(this.#timer);
    const [dial, session] = [this.#dial, this.#session];
    this.#lose();
    dial?.end(reason);
    session?.onEnd({ isRefusal: false, reason });
  }

  #lose(): void {
    this.#deps.clock.clearTimer(this.#timer);
    this.#dial = undefined;
    this.#session = undefined;
  }

  #connect(): void {
    const { clock, id, run } = this.#deps;
    const { url, key, pin, plainNetworks } = this.#settings;
    const target = peerTargetOf(url, pin);
    this.#sleep.set();
    this.#begunAtMs = clock.now();
    this.#dial = new Dial(
      { target, path: `${HUB_OPERATIONS.dialIn.path}?id=${id}&run=${run}`, key },
      {
        userAgent: 'hostwire',
        maxFrameBytes: QUOTAS.socketFrame.maxBytes,
        isOneOfMany: false,
        limitMs: OPEN_LIMIT_MS,
        silenceMs: SILENCE_MS,
        ...(!target.isSecure && { refuse: (address: string) => whyNotPlain(address, plainNetworks) }),
        pinKey: 'hub.pin',
        reasons: REASONS,
        clock,
      },
      {
        onOpen: () => this.#begin(),
        onFrame: (bytes) => {
          // Frames sent before a sleep are not handled after it.
          if (this.#sleep.hasSlept) this.wake();
          else this.#session?.onFrame(bytes);
        },
        onControl: () => this.#session?.onControl(),
        onEnd: (failure) => this.#fail(failure),
      },
    );
  }

  #begin(): void {
    const { clock, log, serve } = this.#deps;
    const dial = this.#dial;
    if (dial === undefined) return;
    this.#openedAtMs = clock.now();
    this.#logged.clear();
    log.info(`hub: connected to ${this.#name}`);
    this.#look(dial);
    const address = canonicalPeer(dial.peerAddress);
    this.#session = serve(this, { address, isKeyed: true, key: KEY_NAME, scopes: this.#settings.scopes });
  }

  #look(dial: Dial): void {
    const { clock } = this.#deps;
    this.#timer = clock.setTimer(() => {
      if (this.#sleep.hasSlept) {
        this.wake();
        return;
      }
      dial.look(clock.now());
      if (this.#dial === dial) this.#look(dial);
    }, LOOK_MS);
  }

  #fail(failure: Failure): void {
    const session = this.#session;
    this.#lose();
    session?.onEnd(failure);
    this.#report(failure.reason, session !== undefined);
    const delayMs = this.#nextDelayMs(session !== undefined);
    this.#retryIn(
      failure.isRefusal ? Math.max(delayMs, REFUSED_MS * (1 + this.#deps.random() / 2)) : delayMs,
    );
  }

  #nextDelayMs(wasOpen: boolean): number {
    const nowMs = this.#deps.clock.now();
    return this.#backoff.next(wasOpen ? nowMs - this.#openedAtMs : undefined, nowMs - this.#begunAtMs);
  }

  #retryIn(delayMs: number): void {
    if (this.#isClosed) return;
    this.#timer = this.#deps.clock.setTimer(() => this.#connect(), delayMs);
  }

  #report(reason: string, wasOpen: boolean): void {
    if (this.#logged.has(reason)) return;
    this.#logged.add(reason);
    const { log } = this.#deps;
    if (wasOpen) log.warn(`hub: lost connection to ${this.#name} (${reason}); reconnecting`);
    else log.warn(`hub: cannot connect to ${this.#name} (${reason}); retrying`);
  }
}
