/** The target of an attack: the service's address, and connections to it that are all closed when the attack is over. */
import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { pick, type Random } from '../http/mutate.ts';
import { UPGRADE } from '../http/socket-attacks.ts';
import { Endings, type Expectation } from './endings.ts';

/** The surroundings of a hub under siege. */
export interface HubPlace {
  /** Honest machines whose streams are watched. */
  readonly watched: readonly string[];
  /** Honest machines that are only shown: of these attackers may ask for other views, which has a machine send at another time. */
  readonly shown: readonly string[];
  /** Real services that take commands: one that the hub connects to, and one that dials in. */
  readonly real: readonly string[];
  /** An honest machine that dials in again and again. */
  readonly guest: DialKey;
  /** Hostile ones that the hub connects to, one per worker; they listen while an attack plays them. */
  readonly connected: readonly { readonly id: string; readonly host: string; readonly port: number }[];
  /** Hostile ones that dial in, one per worker. */
  readonly dialled: readonly DialKey[];
}

/** With which a machine proves itself to a hub. */
export interface DialKey {
  readonly id: string;
  readonly key: string;
}

/** Where the service and its surroundings are. Sent to other processes as JSON. */
export interface Place {
  readonly port: number;
  /** Path of the dashboard's script. */
  readonly script: string;
  /** Path of the stream that attackers open. */
  readonly stream: string;
  /** Prefix of the paths of one machine: `/api`, or that of a machine of a hub. */
  readonly machine: string;
  /** The key, where one is configured: for the honest clients. */
  readonly key?: string;
  /** Address of the session bus on which a service looks for players. */
  readonly bus?: string;
  /** Root of the machine that the service sees, where that is a copy. */
  readonly tree?: string;
  /** Where it is a hub. */
  readonly hub?: HubPlace;
}

/** Honest clients use 127.0.0.1 to 127.0.0.9. */
const ADDRESSES = Array.from({ length: 16 }, (_, i) => `127.0.0.${66 + i}`);
/** Sixteen more, which `auth.blocked_ips` of every form names. */
export const BLOCKED_RANGE = '127.0.0.96/28';
const BLOCKED = Array.from({ length: 16 }, (_, i) => `127.0.0.${96 + i}`);
const CONNECT_LIMIT_MS = 5000;
/** Bytes that one run of an attack may send at full speed: the kernel has taken 2 GiB within a second. */
const MAX_POURED_BYTES = 2 ** 34;

export class Target {
  readonly place: Place;
  /** In which the attack runs: two attacks at a time are in different ones. */
  readonly worker: number;
  /** Operations so far, in the unit of the attack. */
  operations = 0;
  /** Ends and answers that the attack expects of the service; judged when it is over. */
  readonly endings = new Endings();
  readonly #random: Random;
  readonly #closers = new Set<() => unknown>();
  #pouredBytes = 0;

  constructor(place: Place, random: Random, worker = 0) {
    this.place = place;
    this.worker = worker;
    this.#random = random;
  }

  /** The hub under siege; for attacks that need one. */
  get hub(): HubPlace {
    const { hub } = this.place;
    if (hub === undefined) throw new Error('the siege is not of a hub');
    return hub;
  }

  /** The bus of the machine; for attacks that need one. */
  get bus(): string {
    const { bus } = this.place;
    if (bus === undefined) throw new Error('the siege has no bus');
    return bus;
  }

  get address(): string {
    return pick(ADDRESSES, this.#random) ?? '127.0.0.66';
  }

  /** An address that the service refuses, whatever is requested. */
  get blockedAddress(): string {
    return pick(BLOCKED, this.#random) ?? '127.0.0.96';
  }

  /** Number of connections and other things that are open. */
  get size(): number {
    return this.#closers.size;
  }

  count(operations = 1): void {
    this.operations += operations;
  }

  /** Calls `close` at the end of the attack; returns a function that forgets it. */
  keep(close: () => unknown): () => void {
    this.#closers.add(close);
    return () => this.#closers.delete(close);
  }

  /**
   * A connection from one of the attackers' addresses, or from `from`. A refused one is returned closed. Nothing is read
   * from it.
   */
  async connect(
    options: { readonly allowHalfOpen?: boolean; readonly from?: string } = {},
  ): Promise<net.Socket> {
    const { port } = this.place;
    const { allowHalfOpen = false, from: localAddress = this.address } = options;
    const socket = net.connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen });
    socket.setNoDelay(true);
    socket.pause();
    socket.on('error', () => undefined);
    const forget = this.keep(() => socket.destroy());
    socket.once('close', forget);
    const cutOff = AbortSignal.timeout(CONNECT_LIMIT_MS);
    await once(socket, 'connect', { signal: cutOff }).catch(() => socket.destroy());
    return socket;
  }

  /** An open WebSocket, whose bytes are read and dropped. `request`: another one than for `/api/ws`. */
  async upgrade(request: Buffer = UPGRADE): Promise<net.Socket> {
    const socket = await this.connect();
    socket.resume();
    send(socket, request);
    await once(socket, 'data', { signal: AbortSignal.timeout(CONNECT_LIMIT_MS) }).catch(() => undefined);
    return socket;
  }

  /** Expects that the service ends `socket`, or answers on it, within `seconds`: it does what it must not do. */
  expect(socket: net.Socket, seconds: number, what: Expectation = 'end'): void {
    this.endings.expect(socket, seconds, what);
  }

  /**
   * Sends `block` again and again, as fast as the kernel takes it, until the connection has ended or the attack is over.
   * Returns the number of blocks.
   */
  async pour(socket: net.Socket, block: Buffer, signal: AbortSignal): Promise<number> {
    let blocks = 0;
    while (!signal.aborted && socket.writable && this.#pouredBytes < MAX_POURED_BYTES) {
      blocks++;
      this.#pouredBytes += block.length;
      if (socket.write(block)) await nextTurn();
      else await drained(socket, signal);
    }
    // Enough was sent: the connection is held. Of one that has sent nothing, nothing is due.
    if (blocks === 0) this.endings.forget(socket);
    while (!signal.aborted && socket.writable) await pause(100, signal);
    return blocks;
  }

  /** Ends everything that the attack left open. */
  async close(): Promise<void> {
    await Promise.all([...this.#closers].map((close) => close()));
    this.#closers.clear();
  }
}

export interface Attack {
  readonly name: string;
  /** The unit of `Target.operations`, in the plural. */
  readonly unit: string;
  /** Default: 5 s. */
  readonly seconds?: number;
  /** Required member of `Place`. */
  readonly needs?: 'bus' | 'hub' | 'tree';
  /** A hub has nothing like it. */
  readonly isForService?: true;
  /** A line that the log must have when the attack has run, without authentication, */
  readonly log?: RegExp;
  /** and with it: strangers are refused before all else. */
  readonly keyedLog?: RegExp;
  /** Attacks, at its own pace, until `signal` aborts. */
  readonly run: (target: Target, random: Random, signal: AbortSignal) => Promise<unknown>;
}

/** Writes to a socket that may have been closed. */
export function send(socket: net.Socket, bytes: string | Buffer): void {
  if (!socket.destroyed && socket.writable) socket.write(bytes);
}

/** Resolves when the kernel has taken what was written, or never will, or the attack is over. */
function drained(socket: net.Socket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
    signal.addEventListener('abort', done);
  });
}

/** Waits, or until the attack is over. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Calls `act` at most `perSecond` times per second, one call after the other, until the attack is over. */
export async function atRate(perSecond: number, signal: AbortSignal, act: () => unknown): Promise<void> {
  while (!signal.aborted) {
    const dueMs = performance.now() + 1000 / perSecond;
    await act();
    await pause(Math.max(1, dueMs - performance.now()), signal);
  }
}

/** Runs `act` again and again in each of `workers`, without a pause, until the attack is over. */
export async function atFullSpeed(
  workers: number,
  signal: AbortSignal,
  act: (worker: number) => Promise<unknown>,
): Promise<void> {
  const run = async (worker: number) => {
    while (!signal.aborted) {
      await act(worker);
      // An act that fails immediately must not keep this process from seeing the signal.
      await nextTurn();
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => run(worker)));
}
