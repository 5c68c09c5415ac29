/**
 * One connection to the broker, from the first byte to the end. A new one is made after each end: what the library keeps
 * to send it again after an outage would be old by then.
 */
import type { Socket } from 'node:net';
import mqtt, { type IClientOptions, type IConnackPacket, type IPublishPacket } from 'mqtt';
import { PLACES, QUOTAS } from '../fairness/limits.ts';
import { type Broker, openSocket, type ProtocolVersion } from './broker-socket.ts';
import { KeepAlive } from './keep-alive.ts';
import { type ConnectionEvents, Refusal } from './line.ts';
import { PacketLengths } from './packets.ts';

export interface ConnectionOptions extends ConnectionEvents {
  readonly broker: Broker;
  readonly version: ProtocolVersion;
  /** Published by the broker, retained, when the connection ends without a farewell; undefined: nothing is. */
  readonly will: { readonly topic: string; readonly payload: string } | undefined;
}

const CONNECT_LIMIT_MS = 10_000;
const KEEPALIVE_SECONDS = 30;
/** Maximum time for the farewell to leave. */
const LEAVE_MS = 100;
/** Topic, properties and head of a packet, beside its payload. */
const PACKET_OVERHEAD = 1024;

const VERSION_REFUSED: ReadonlySet<unknown> = new Set([1, 132]);
const isRefusal = (code: unknown) => typeof code === 'number' && code >= 128;

interface Waiting {
  readonly topic: string;
  readonly payload: string;
  readonly isRetained: boolean;
  readonly settle: (error?: Error) => void;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #client: mqtt.MqttClient;
  readonly #socket: Socket;
  readonly #lengths = new PacketLengths();
  readonly #keepAlive = new KeepAlive();
  readonly #waiting: Waiting[] = [];
  /** Settles what has not been settled when the connection ends. */
  readonly #open = new Set<(error?: Error) => void>();
  #underWay = 0;
  #maxUnderWay: number = PLACES.brokerUnderWay.max;
  #maxBytes = Number.POSITIVE_INFINITY;
  #isConnected = false;
  #isReady = false;
  #isEnded = false;
  #reason: string | undefined;
  #isVersionRefused = false;
  #isLeave = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#socket = openSocket(options.broker);
    this.#client = new mqtt.MqttClient(() => this.#socket, clientOptions(options));
    this.#socket
      .on('data', (chunk) => this.#judge(chunk))
      .on(options.broker.isSecure ? 'secureConnect' : 'connect', () => {
        this.#isConnected = true;
      })
      .on('error', (error) => this.#note(error.message));
    this.#client
      .on('connect', (packet) => this.#begin(packet))
      .on('message', (topic, payload, packet) => this.#receive(topic, payload, packet))
      .on('error', (error) => {
        this.#isVersionRefused = 'code' in error && VERSION_REFUSED.has(error.code);
        this.#note(error.message);
        this.#socket.destroy();
      })
      .on('disconnect', ({ reasonCode = 0 }) => this.#note(`the broker says: ${wordsOf(reasonCode)}`))
      .on('close', () => this.#end());
  }

  get isReady(): boolean {
    return this.#isReady && !this.#isEnded;
  }

  /** Since the last byte of the broker. */
  get quietMs(): number {
    return this.#keepAlive.quietMs;
  }

  /** Asks the broker whether it is there; one that does not answer within seconds is cut. */
  check(): void {
    if (!this.isReady) return;
    this.#keepAlive.check(
      () => this.#client.sendPing(),
      () => this.cut('no answer from the broker within the timeout'),
    );
  }

  /**
   * Publishes with QoS 0. Resolves when the bytes were taken; rejects at the end of the connection, or where too many bytes
   * wait for the broker.
   */
  async send(topic: string, payload: string | Buffer): Promise<void> {
    this.#refuseLong(topic, payload);
    if (this.#socket.writableLength + payload.length > QUOTAS.brokerWaiting.maxBytes)
      throw new Error('too many bytes are queued for the broker');
    await this.#settled((settle) => {
      this.#client.publish(topic, payload, { qos: 0 }, settle);
    });
  }

  /** Publishes with QoS 1. Resolves when the broker has it; rejects with Refusal where the broker says that it may not. */
  async deliver(topic: string, payload: string, isRetained = false): Promise<void> {
    this.#refuseLong(topic, payload);
    if (this.#waiting.length >= PLACES.brokerWaiting.max)
      throw new Error('too many messages are queued for the broker');
    await this.#settled((settle) => {
      this.#waiting.push({ topic, payload, isRetained, settle });
      this.#advance();
    });
  }

  /**
   * Subscribes, with QoS 1 by default; resolves with those that were refused. `marksRetained`: with MQTT 5 a message that
   * was published as retained is marked so when it is passed on immediately, too, not only when it was kept.
   */
  async subscribe(
    topics: readonly string[],
    { qos = 1, marksRetained = false }: { readonly qos?: 0 | 1; readonly marksRetained?: boolean } = {},
  ): Promise<readonly string[]> {
    if (topics.length === 0) return [];
    let granted: readonly unknown[] = [];
    await this.#settled((settle) => {
      this.#client.subscribe([...topics], { qos, rap: marksRetained }, (error, _, packet) => {
        granted = packet?.granted ?? [];
        settle(granted.length === 0 && error !== null ? error : undefined);
      });
    });
    return topics.filter((_, index) => isRefusal(granted[index]));
  }

  async unsubscribe(topics: readonly string[]): Promise<void> {
    if (topics.length === 0) return;
    await this.#settled((settle) => {
      this.#client.unsubscribe([...topics], (error) => settle(error ?? undefined));
    });
  }

  /** Takes leave of the broker, which then publishes no will. Resolves when the connection has ended. */
  async leave(): Promise<void> {
    if (this.#isEnded) return;
    this.#isLeave = true;
    const ended = new Promise<void>((resolve) => this.#client.once('close', resolve));
    this.#client.end(false, {}, () => this.#socket.destroy());
    // In real time, which is what the network takes.
    setTimeout(() => this.#socket.destroy(), LEAVE_MS).unref();
    await ended;
  }

  /** Ends it without a farewell, for `reason`. */
  cut(reason: string): void {
    this.#note(reason);
    this.#socket.destroy();
  }

  #begin({ properties }: IConnackPacket): void {
    this.#maxUnderWay = Math.min(
      PLACES.brokerUnderWay.max,
      properties?.receiveMaximum ?? PLACES.brokerUnderWay.max,
    );
    this.#maxBytes = properties?.maximumPacketSize ?? Number.POSITIVE_INFINITY;
    // A hub sends to thousands of machines in one turn, and the library listens for `drain` once per message.
    this.#socket.setMaxListeners(0);
    this.#isReady = true;
    this.#options.onReady();
  }

  #receive(topic: string, payload: Buffer, { retain, dup, qos }: IPublishPacket): void {
    if (this.#isEnded) return;
    this.#options.onMessage({ topic, payload, isRetained: retain, isRepeated: dup, qos });
  }

  #judge(chunk: Buffer): void {
    this.#keepAlive.heard();
    if (!this.#lengths.take(chunk))
      this.cut(
        `a packet of the broker has more than ${QUOTAS.brokerPacket.maxBytes} bytes, or arrived in more than ${PLACES.packetPieces.max} pieces`,
      );
  }

  #refuseLong(topic: string, payload: string | Buffer): void {
    if (Buffer.byteLength(payload) + topic.length + PACKET_OVERHEAD > this.#maxBytes)
      throw new Refusal(`it exceeds the ${this.#maxBytes} bytes that the broker accepts`);
  }

  #advance(): void {
    while (this.#underWay < this.#maxUnderWay) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#underWay++;
      const { topic, payload, isRetained, settle } = next;
      this.#client.publish(topic, payload, { qos: 1, retain: isRetained }, (error) => {
        this.#underWay--;
        const code = error !== undefined && error !== null && 'code' in error ? error.code : undefined;
        settle(isRefusal(code) ? new Refusal(wordsOf(code)) : (error ?? undefined));
        this.#advance();
      });
    }
  }

  /** Settles as `begin` says, or with the end of the connection. */
  #settled(begin: (settle: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.isReady) {
        reject(new Error('not connected'));
        return;
      }
      const settle = (error?: Error | null) => {
        if (!this.#open.delete(settle)) return;
        if (error instanceof Error) reject(error);
        else resolve();
      };
      this.#open.add(settle);
      begin(settle);
    });
  }

  /** The first reason is the cause of the others. */
  #note(reason: string): void {
    this.#reason ??= reason === '' ? 'unknown' : reason;
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#keepAlive.stop();
    this.#waiting.length = 0;
    for (const settle of [...this.#open]) settle(new Error('the connection has ended'));
    // Its timers.
    this.#client.end(true);
    this.#options.onEnd({
      reason: this.#reason ?? 'the broker closed the connection',
      wasReady: this.#isReady,
      isVersionRefused: this.#isVersionRefused,
      isLeave: this.#isLeave,
      isSilent: this.#isConnected && !this.#isReady && this.#reason === undefined,
    });
  }
}

const WORDS: Readonly<Record<number, string>> = mqtt.ReasonCodes;
const wordsOf = (code: unknown) => WORDS[Number(code)] ?? `code ${String(code)}`;

function clientOptions({ broker, version, will }: ConnectionOptions): IClientOptions {
  const { clientId, username, password } = broker;
  return {
    protocolVersion: version,
    clientId,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    clean: true,
    keepalive: KEEPALIVE_SECONDS,
    connectTimeout: CONNECT_LIMIT_MS,
    timerVariant: 'native',
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    ...(will !== undefined && {
      will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1 as const, retain: true },
    }),
    ...(version === 5 && { properties: { maximumPacketSize: QUOTAS.brokerPacket.maxBytes } }),
  };
}
