/** What an attack gets: where the service is, and connections to it that are all closed when the attack is over. */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pick, type Random } from '../http/mutate.ts';
import { UPGRADE } from '../http/socket-attacks.ts';

/** Where the service and its surroundings are. Sent to other processes as JSON. */
export interface Place {
  readonly port: number;
  /** Path of the dashboard's script. */
  readonly script: string;
  /** The key, where authentication is on: for the honest clients. */
  readonly key?: string;
  /** Address of the session bus on which the service looks for players. */
  readonly bus: string;
  /** Root of the machine that the service sees, where that is a copy. */
  readonly tree?: string;
}

/** Honest clients use 127.0.0.1 to 127.0.0.9. */
const ADDRESSES = Array.from({ length: 16 }, (_, i) => `127.0.0.${66 + i}`);
const CONNECT_LIMIT_MS = 5000;

export class Target {
  readonly place: Place;
  /** Operations so far, in the unit of the attack. */
  operations = 0;
  readonly #random: Random;
  readonly #closers = new Set<() => unknown>();

  constructor(place: Place, random: Random) {
    this.place = place;
    this.#random = random;
  }

  get address(): string {
    return pick(ADDRESSES, this.#random) ?? '127.0.0.66';
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

  /** A connection from one of the attackers' addresses. A refused one is returned closed. Nothing is read from it. */
  async connect(options: { readonly allowHalfOpen?: boolean } = {}): Promise<net.Socket> {
    const { port } = this.place;
    const socket = net.connect({ port, host: '127.0.0.1', localAddress: this.address, ...options });
    socket.setNoDelay(true);
    socket.pause();
    socket.on('error', () => undefined);
    const forget = this.keep(() => socket.destroy());
    socket.once('close', forget);
    const cutOff = AbortSignal.timeout(CONNECT_LIMIT_MS);
    await once(socket, 'connect', { signal: cutOff }).catch(() => socket.destroy());
    return socket;
  }

  /** An open WebSocket, whose bytes are read and dropped. */
  async upgrade(): Promise<net.Socket> {
    const socket = await this.connect();
    socket.resume();
    send(socket, UPGRADE);
    await once(socket, 'data', { signal: AbortSignal.timeout(CONNECT_LIMIT_MS) }).catch(() => undefined);
    return socket;
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
  /** What `Place` must have. */
  readonly needs?: 'tree';
  /** Attacks, at its own pace, until `signal` aborts. */
  readonly run: (target: Target, random: Random, signal: AbortSignal) => Promise<unknown>;
}

/** Writes to a socket that may have been closed. */
export function send(socket: net.Socket, bytes: string | Buffer): void {
  if (!socket.destroyed && socket.writable) socket.write(bytes);
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
