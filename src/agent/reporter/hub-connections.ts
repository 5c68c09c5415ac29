/** The connections that hubs open to this machine at /api/agent. What serves them is loaded with the first one. */

import type { Caller } from '../../access/caller.ts';
import type { KeyUses } from '../../access/key-uses.ts';
import { messageOf, ServiceError } from '../../errors.ts';
import { Places } from '../../fairness/places.ts';
import { CLOSE_CODES, type Exchange, type Socket, type SocketEvents } from '../../http/engine.ts';
import type { Gate } from '../../http/gate.ts';
import { identify } from '../../identity.ts';
import type { HubServer, HubServerDeps, ServedHub } from './accepted-hubs.ts';

export type HubConnectionDeps = Omit<HubServerDeps, 'id'>;

/** As many as there may be leases of hubs behind a broker. */
const MAX_HUBS = 16;

/** One connection, before and after its session has begun. A hub sends nothing before it has the status of the machine. */
class HubConnection implements SocketEvents {
  readonly caller: Caller;
  readonly #gate: Pick<Gate, 'hears'>;
  readonly #onClosed: () => void;
  #socket: Socket | undefined;
  served: ServedHub | undefined;

  constructor(caller: Caller, gate: Pick<Gate, 'hears'>, onClosed: () => void) {
    this.caller = caller;
    this.#gate = gate;
    this.#onClosed = onClosed;
  }

  start(socket: Socket): void {
    this.#socket = socket;
  }

  /** Begins the session, unless the hub has gone. */
  serve(server: HubServer): void {
    if (this.#socket?.isOpen === true) this.served = server.serve(this.#socket, this.caller);
  }

  end(code: (typeof CLOSE_CODES)[keyof typeof CLOSE_CODES], reason: string): void {
    this.#socket?.end(code, reason);
  }

  bar(): void {
    this.end(CLOSE_CODES.policy, 'this machine no longer accepts this hub');
  }

  async close(): Promise<void> {
    await this.served?.close();
    this.end(CLOSE_CODES.goingAway, 'the service is shutting down');
  }

  onMessage(bytes: Buffer, isBinary: boolean): void {
    if (this.#gate.hears(this.caller)) this.served?.events.onMessage(bytes, isBinary);
    else this.bar();
  }

  onControlFrame(): void {
    this.served?.events.onControlFrame();
  }

  onDrained(): void {
    this.served?.events.onDrained();
  }

  onClosed(): void {
    this.served?.events.onClosed();
    this.#onClosed();
  }
}

export class HubConnections {
  readonly #deps: HubConnectionDeps;
  readonly #gate: Pick<Gate, 'hears'>;
  readonly #uses: Pick<KeyUses, 'opened' | 'closed'> | undefined;
  readonly #connections = new Set<HubConnection>();
  readonly #places = new Places(MAX_HUBS);
  #server: HubServer | undefined;
  #loading: Promise<HubServer> | undefined;

  constructor(deps: HubConnectionDeps, gate: Pick<Gate, 'hears'>, uses?: Pick<KeyUses, 'opened' | 'closed'>) {
    this.#deps = deps;
    this.#gate = gate;
    this.#uses = uses;
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Upgrades `exchange`, which a hub has opened. Throws ServiceError. */
  open(exchange: Exchange, caller: Caller): void {
    if (!this.#places.hasCapacity(caller))
      throw new ServiceError('too_many_streams', 'Too many hubs, or too many without a key.');
    if (this.#server?.isAsleep === true)
      throw new ServiceError('shutting_down', 'This machine is going to sleep.');
    const connection = new HubConnection(caller, this.#gate, () => {
      if (!this.#connections.delete(connection)) return;
      this.#places.remove(caller);
      this.#uses?.closed(caller.key, caller.address);
    });
    const socket = exchange.startSocket(connection);
    if (socket === undefined) return;
    this.#connections.add(connection);
    this.#places.add(caller);
    this.#uses?.opened(caller.key);
    connection.start(socket);
    void this.#serve(connection);
  }

  /** Cuts every connection that `passes` no longer lets through; a new configuration applies to the others. */
  reconfigure(passes: (caller: Caller) => boolean): void {
    for (const connection of [...this.#connections])
      if (passes(connection.caller)) connection.served?.reconfigure();
      else connection.bar();
  }

  /** Takes less than half a second. Never rejects. */
  async close(): Promise<void> {
    const closed = [...this.#connections].map((connection) => connection.close());
    this.#server?.close();
    await Promise.all(closed);
  }

  async #serve(connection: HubConnection): Promise<void> {
    try {
      this.#loading ??= this.#load();
      this.#server = await this.#loading;
      connection.serve(this.#server);
    } catch (error) {
      this.#loading = undefined;
      this.#deps.log.error(`hubs cannot be served: ${messageOf(error)}`);
      connection.end(CLOSE_CODES.broken, 'the service failed; its log has the reason');
    }
  }

  async #load(): Promise<HubServer> {
    const { HubServer } = await import('./accepted-hubs.ts');
    return new HubServer({ ...this.#deps, id: identify(this.#deps.config.current.host) });
  }
}
