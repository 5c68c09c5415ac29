/**
 * The layers between the network and the routes, the same for the service and for the hub: the engine, the gate, the
 * limits of each address, the pipeline.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Caller } from './access/caller.ts';
import { KeyUses } from './access/key-uses.ts';
import { deferToNextTurn } from './clock.ts';
import type { Base } from './composition.ts';
import type { Config } from './config/config.ts';
import { describeEngine, type EngineChoice } from './engines.ts';
import { messageOf, ServiceError } from './errors.ts';
import { limitsPerAddress, type PlaceLimits } from './fairness/places.ts';
import { Quota } from './fairness/quota.ts';
import type { Host } from './host/host.ts';
import type { PausedPolls } from './host/streams.ts';
import { ViewerCounts } from './http/clients/viewer-counts.ts';
import { ConnectionLimiter } from './http/connections/connection-limiter.ts';
import { DescriptorCapacity, LEAST_DESCRIPTORS } from './http/connections/descriptors.ts';
import { HeapTrim, SCRIPT_HEAP } from './http/connections/heap.ts';
import { type Bound, LISTENER, listenAll, pairOf } from './http/connections/listening.ts';
import type { Engine } from './http/engine.ts';
import { Gate, type GateOptions, SOCKET_PATHS } from './http/gate.ts';
import { Pipeline } from './http/pipeline.ts';
import { errorAnswer } from './http/reply.ts';
import type { Route } from './http/routes.ts';
import type { Log } from './log/log.ts';
import { Streams } from './streams/streams.ts';
import type { TlsPair } from './tls/pair.ts';

/** Where a key is configured, the last streams are for clients that send it. */
const KEYED_SHARE = 1 / 8;

/** Time for connections to take their last bytes: the service must be gone within a second, under load too. */
const CLOSE_LIMIT_MS = 500;
/** The native writer cuts peers that take nothing. It takes longer only where it has no processor. */
const WRITER_LIMIT_MS = 5000;
/** Poll interval until then; also the minimum wait, because an engine may hold stream bytes without reporting it. */
const CLOSE_GRACE_MS = 50;

export interface HttpServerOptions {
  readonly base: Base;
  readonly engine: EngineChoice;
  /** The machine's short and full host name: the web guard lets them through. */
  readonly machineNames: readonly string[];
  /** The raw paths of files that everybody may read. */
  readonly dashboardPaths?: readonly string[];
  /** The request headers that the routes read, in lower case. */
  readonly headersRead: ReadonlySet<string>;
  /** Where a WebSocket can be asked for, as paths of routes. Default: that of the service. */
  readonly socketPaths?: readonly string[];
  /** As EngineOptions. */
  readonly longSocketPaths?: readonly string[];
  /** As GateOptions.provenPaths. */
  readonly provenPaths?: readonly string[];
  /** As GateOptions.exposure. */
  readonly exposure?: GateOptions['exposure'];
  /** The resident memory of this process, in bytes. Without it none is returned to the system early. */
  readonly rss?: (() => number) | undefined;
}

const TOO_MANY_CONNECTIONS = errorAnswer(
  new ServiceError('too_many_connections', 'This address has too many connections.'),
);

/** Logs why there are none. */
function openPolls(host: Host, log: Log): PausedPolls | undefined {
  try {
    return host.streams?.openPolls();
  } catch (error) {
    log.warn(`cannot use the native writer of streams: ${String(error)}`);
    return undefined;
  }
}

export class HttpServer {
  readonly #base: Base;
  readonly gate: Gate;
  readonly server: Engine;
  readonly quota: Quota;
  readonly keyUses = new KeyUses();
  readonly counts = new ViewerCounts(this.keyUses, () => this.#viewerLimits());
  readonly streams: Streams;
  readonly #limiter: ConnectionLimiter;
  readonly #capacity: DescriptorCapacity;
  readonly #heap: HeapTrim | undefined;
  #pipeline: Pipeline | undefined;
  #others: { readonly size: number } = { size: 0 };
  #isStopping = false;
  #stoppedAt = 0;
  /** Sets the options of the listening sockets; false when that failed. */
  #tune = (): boolean => false;

  constructor(options: HttpServerOptions) {
    const { base, engine, machineNames, dashboardPaths, headersRead, rss } = options;
    const { socketPaths = SOCKET_PATHS, longSocketPaths, provenPaths = [], exposure } = options;
    const { config, host, clock, log } = base;
    this.#base = base;
    config.onChange((before) => this.#reconfigure(before));
    const paths = dashboardPaths === undefined ? {} : { dashboardPaths };
    this.gate = new Gate({
      config: config.current,
      machineNames,
      ...paths,
      socketPaths,
      provenPaths,
      exposure,
      uses: this.keyUses,
      log,
      now: clock.now,
    });
    this.quota = new Quota({
      maxBytes: () => config.current.server.max_kept_megabytes * 2 ** 20,
      onCut: (address, connections) => {
        log.warn(
          `closed ${connections} ${connections === 1 ? 'connection' : 'connections'} from ${address}: too many bytes buffered`,
        );
        this.#heap?.trimSoon();
      },
    });
    this.streams = new Streams({ clock, quota: this.quota, counts: this.counts, host: host.streams });
    log.info(describeEngine(engine));
    this.server = engine.create({
      quota: this.quota,
      countDescriptors: () => host.openDescriptors(),
      countAdopted: () => this.streams.adopted,
      openPolls: () => openPolls(host, log),
      headersRead,
      socketPaths,
      longSocketPaths,
      // `serve` comes before `start`.
      onRequest: (exchange) => this.#pipeline?.handle(exchange),
      onConnection: (address) => {
        this.#heap?.trimSoon();
        this.server.maxConnections = this.#capacity.maxConnections();
        if (this.#limiter.opened(address)) return undefined;
        this.gate.noteRefusal('too_many_connections', address);
        return TOO_MANY_CONNECTIONS;
      },
    });
    this.#capacity = new DescriptorCapacity({
      host,
      now: clock.now,
      connections: () => this.server.connections,
    });
    this.#heap = rss && new HeapTrim({ host, clock, rss, scriptHeap: SCRIPT_HEAP });
    this.#limiter = new ConnectionLimiter({
      host,
      clock,
      log,
      maxPerAddress: () => config.current.server.max_connections_per_address,
      maxInAll: () => this.server.maxConnections,
      isProxy: (address) => this.gate.isTrustedProxy(address),
      open: () => this.server.connections,
    });
  }

  /** Whether one more subscriber may be let in, beside others that are counted by themselves. */
  capacityBeside(others: { readonly size: number } = { size: 0 }): (caller: Caller) => boolean {
    this.#others = others;
    return (caller) => this.counts.places.hasCapacity(caller);
  }

  #viewerLimits(): PlaceLimits {
    const { server, auth } = this.#base.config.current;
    const allowed = this.#capacity.maxStreams();
    const wanted = server.max_streams === 0 ? allowed : Math.min(server.max_streams, allowed);
    const max = wanted - this.#others.size;
    const keyed = (auth.api_key ?? '') === '' ? 0 : Math.floor(max * KEYED_SHARE);
    return limitsPerAddress(max, server.max_streams_per_address, max - keyed);
  }

  /** Many connections were opened that the engine does not know: memory may be returned when they have gone. */
  trimSoon(): void {
    this.#heap?.trimSoon();
  }

  /** Answers requests with `routes`. */
  serve(routes: readonly Route[]): void {
    this.#pipeline = new Pipeline({
      gate: this.gate,
      routes,
      config: this.#base.config,
      isStopping: () => this.#isStopping,
      log: this.#base.log,
    });
  }

  /** Listens; resolves with the ports in use. Rejects with ListenError, or an Error for a bad certificate. */
  async start(): Promise<readonly Bound[]> {
    const { config, host, log } = this.#base;
    let bound: readonly Bound[];
    try {
      bound = await listenAll(this.server, config.current.server);
    } catch (error) {
      this.server.close();
      throw error;
    }
    const ports = bound.map(({ port }) => port);
    this.#tune = () => ports.map((port) => host.tuneListener(port, LISTENER)).every((options) => options > 0);
    this.#tune();
    this.#heap?.start();
    this.#limiter.start(...ports);
    const limit = host.descriptorLimit();
    if (limit < LEAST_DESCRIPTORS)
      log.warn(
        `the limit of open files is ${limit}, and the service needs ${LEAST_DESCRIPTORS}: raise "ulimit -n" or LimitNOFILE=`,
      );
    this.server.maxConnections = this.#capacity.maxConnections();
    return bound;
  }

  /** Follows the configuration; the role judges its streams again after it. */
  #reconfigure(before: Config): void {
    const { config, log } = this.#base;
    const { current } = config;
    log.setLevel(current.log.level);
    this.gate.reconfigure(current);
    const pair = pairOf(current.server);
    if (pair !== undefined && !isDeepStrictEqual(pair, pairOf(before.server))) void this.#renew(pair);
  }

  /** Never rejects. */
  async #renew(pair: TlsPair): Promise<void> {
    const { log } = this.#base;
    try {
      await this.server.renew(pair);
      this.#tune();
      log.info(`new connections use the certificate in ${pair.cert.path}`);
    } catch (error) {
      const reason = messageOf(error);
      log.error(`the certificate was not renewed; the old one stays in use: ${reason}`);
    }
  }

  /** No new connections; requests are answered with 503. */
  stop(): void {
    this.#isStopping = true;
    this.server.stopListening();
    this.#limiter.stop();
    this.#heap?.stop();
    this.#stoppedAt = performance.now();
  }

  /** Waits, less than a second after `stop`, until clients have their last bytes; then closes. `isDrained`: no stream is full. */
  async close(isDrained: boolean): Promise<void> {
    const { server } = this;
    this.streams.end();
    const isSettled = () => isDrained && server.pending === 0;
    const hasTime = (limitMs: number) => performance.now() - this.#stoppedAt < limitMs;
    // In real time, which is what the kernel takes. Ended streams' connections stay open for another request: nothing
    // waits for those.
    do {
      await new Promise((resolve) => setTimeout(resolve, CLOSE_GRACE_MS));
      // A process that got no processor in this time has requests that it has not read: they come before this.
      await new Promise<void>(deferToNextTurn);
    } while (
      (this.streams.isEnding && hasTime(WRITER_LIMIT_MS)) ||
      (!isSettled() && server.connections > 0 && hasTime(CLOSE_LIMIT_MS))
    );
    server.close();
  }
}
