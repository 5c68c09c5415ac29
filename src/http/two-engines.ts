/** Two engines in one process: one for plain HTTP, and one for HTTPS, which is made when there is a certificate. */
import type { TlsPair } from '../tls/pair.ts';
import type { Engine } from './engine.ts';

export class TwoEngines implements Engine {
  readonly #plain: Engine;
  readonly #createSecure: () => Promise<Engine>;
  #secure: Engine | undefined;
  #maxConnections = Number.POSITIVE_INFINITY;

  constructor(plain: Engine, createSecure: () => Promise<Engine>) {
    this.#plain = plain;
    this.#createSecure = createSecure;
  }

  get connections(): number {
    return this.#plain.connections + (this.#secure?.connections ?? 0);
  }

  get pending(): number {
    return this.#plain.pending + (this.#secure?.pending ?? 0);
  }

  get maxConnections(): number {
    return this.#maxConnections;
  }

  /** Each engine counts its own: it may have what the other one leaves. */
  set maxConnections(most: number) {
    this.#maxConnections = most;
    this.#plain.maxConnections = most - (this.#secure?.connections ?? 0);
    if (this.#secure !== undefined) this.#secure.maxConnections = most - this.#plain.connections;
  }

  async listen(host: string, port: number, pair?: TlsPair): Promise<number> {
    if (pair === undefined) return await this.#plain.listen(host, port);
    this.#secure ??= await this.#createSecure();
    return await this.#secure.listen(host, port, pair);
  }

  async renew(pair: TlsPair): Promise<void> {
    if (this.#secure === undefined) throw new Error('there is no listening socket for HTTPS');
    await this.#secure.renew(pair);
  }

  stopListening(): void {
    this.#plain.stopListening();
    this.#secure?.stopListening();
  }

  close(): void {
    this.#plain.close();
    this.#secure?.close();
  }

  publish(topic: string, bytes: Buffer): void {
    this.#plain.publish(topic, bytes);
    this.#secure?.publish(topic, bytes);
  }
}
