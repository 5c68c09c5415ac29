/** The composition root: builds the parts, connects them, and is all that main knows of them. */
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from './clock.ts';
import type { Power } from './commands/power.ts';
import type { Config } from './config/schema.ts';
import { describeEngine, type EngineChoice } from './engines.ts';
import { type ExporterParts, Exporters } from './exporters/exporters.ts';
import type { Host } from './host/host.ts';
import { Ledger } from './http/clients/ledger.ts';
import { Tally } from './http/clients/tally.ts';
import { ConnectionCensus } from './http/connections/census.ts';
import { DescriptorRoom, MIN_DESCRIPTORS, roomFor } from './http/connections/descriptors.ts';
import { HeapTrim } from './http/connections/heap.ts';
import { type Bound, canJudgePeers, listenAll, pairOf, tuneListening } from './http/connections/listening.ts';
import { PeerWatch } from './http/connections/peers.ts';
import { readDashboard } from './http/endpoints/dashboard.ts';
import { HEADERS_READ, surfaceOf } from './http/endpoints/surface.ts';
import { readSystem } from './http/endpoints/system.ts';
import type { Engine } from './http/engine.ts';
import { Gate, SOCKET_PATH } from './http/gate.ts';
import { Pipeline } from './http/pipeline.ts';
import type { Route } from './http/routes.ts';
import { Hub } from './http/socket/hub.ts';
import { Fanout } from './http/stream/fanout.ts';
import { NativeFanout } from './http/stream/native-fanout.ts';
import type { StreamHub } from './http/stream/stream-hub.ts';
import type { Log } from './log/log.ts';
import { type Base, createCommands, createStats } from './parts.ts';
import type { Sampler } from './stats/sampler.ts';
import type { ServiceFacts } from './stats/system.ts';
import type { TlsPair } from './tls/pair.ts';

export interface ServiceOptions {
  readonly config: Config;
  readonly host: Host;
  readonly engine: EngineChoice;
  readonly log: Log;
  readonly facts: ServiceFacts;
  /** The machine's short and full host name: the web guard lets them through. */
  readonly machineNames: readonly string[];
  /** The resident memory of this process, in bytes. Without it none is returned to the system early. */
  readonly rss?: () => number;
  /** For tests. */
  readonly clock?: Clock;
}

/** Fallback stall limit, for platforms where neither PeerWatch nor TCP_USER_TIMEOUT is available. */
const UNTUNED_STALL_SECONDS = 30;

/** Time for connections to take their last bytes: the service must be gone within a second, under load too. */
const CLOSE_LIMIT_MS = 500;
/** The native writer cuts by itself those who take nothing. It takes longer only where it has no processor. */
const WRITER_LIMIT_MS = 5000;
/** Poll interval meanwhile; also the minimum wait, because an engine may hold stream bytes without reporting it. */
const CLOSE_GRACE_MS = 50;

export class Service {
  readonly #base: Base;
  readonly #sampler: Sampler;
  readonly #fanout: StreamHub;
  readonly #hub: Hub;
  readonly #power: Power;
  readonly #gate: Gate;
  readonly #pipeline: Pipeline;
  readonly #server: Engine;
  readonly #peers: PeerWatch;
  readonly #census: ConnectionCensus;
  readonly #room: DescriptorRoom;
  readonly #heap: HeapTrim | undefined;
  readonly #exporters = new Exporters();
  readonly #exporterParts: Omit<ExporterParts, 'doors'>;
  /** For the test that compares the API documents with it. */
  readonly routes: readonly Route[];
  #isStopping = false;
  /** Sets the options of the listening sockets; false when that failed. */
  #tune = (): boolean => false;

  constructor({
    config: initial,
    host,
    engine,
    log,
    facts,
    machineNames,
    rss,
    clock = systemClock(() => host.sinceBootMs()),
  }: ServiceOptions) {
    const config = { current: initial };
    const base = { config, host, clock, log };
    const { sampler, readings, queries } = createStats(base);
    const { power, media, processControl, wakeControl, commands } = createCommands(base, facts.pid);
    const dashboard = readDashboard();
    const dashboardPaths = dashboard.map((file) => file.path);
    this.#base = base;
    this.#exporterParts = { ...base, facts, sampler, commands, power, media, queries };
    this.#sampler = sampler;
    this.#power = power;
    this.#gate = new Gate({ config: initial, machineNames, dashboardPaths, log, now: clock.now });
    // The pipeline is made later, because the hub, which its routes lead to, publishes through the server.
    const tally = new Tally();
    const ledger = new Ledger({
      maxBytes: () => config.current.server.max_kept_megabytes * 2 ** 20,
      onCut: (address, connections) => {
        log.warn(`${connections} connections of ${address} cut: too many bytes were kept for them`);
        this.#heap?.trimSoon();
      },
    });
    log.info(describeEngine(engine));
    this.#server = engine.create({
      ledger,
      countDescriptors: () => host.openDescriptors(),
      countAdopted: () => this.#fanout.adopted,
      headersRead: HEADERS_READ,
      socketPath: SOCKET_PATH,
      onRequest: (exchange) => this.#pipeline.handle(exchange),
      onConnection: (address) => {
        this.#peers.wake();
        this.#heap?.trimSoon();
        this.#server.maxConnections = this.#room.maxConnections();
        return this.#census.opened(address);
      },
      onEnded: () => this.#census.ended(),
    });
    this.#room = new DescriptorRoom({ host, now: clock.now, connections: () => this.#server.connections });
    this.#peers = new PeerWatch({ host, clock, log, server: this.#server });
    this.#heap = rss && new HeapTrim({ host, clock, rss });
    this.#census = new ConnectionCensus({
      host,
      clock,
      log,
      ledger,
      maxPerAddress: () => config.current.server.max_connections_per_address,
      isProxy: (address) => this.#gate.isTrustedProxy(address),
      unfinished: () => this.#server.connections - this.#fanout.size,
      heap: this.#heap,
    });
    const fanoutOptions = { source: sampler, clock, ledger, tally };
    this.#fanout =
      engine.name === 'node' && host.streams !== undefined
        ? new NativeFanout({ ...fanoutOptions, streams: host.streams })
        : new Fanout(fanoutOptions);
    this.#hub = new Hub({
      version: facts.version,
      config,
      clock,
      log,
      commands,
      source: sampler,
      rooms: { media, power, processes: queries },
      server: this.#server,
      tally,
    });
    for (const sink of [this.#fanout, this.#hub]) sampler.attach(sink);
    const systemRooms = { host, facts, source: sampler, power, media, processControl, wakeControl };
    this.routes = surfaceOf({
      gate: this.#gate,
      sampler,
      fanout: this.#fanout,
      sockets: this.#hub,
      commands,
      power,
      media,
      processQueries: queries,
      dashboard,
      metrics: {
        ...{ host, source: sampler, clock, facts, engine: engine.name, sampler, gate: this.#gate },
        ...{ server: this.#server, streams: this.#fanout, sockets: this.#hub, media, config, log, rss },
        processes: readings,
      },
      readSystem: (withDetail) => readSystem(systemRooms, withDetail),
      hasRoom: roomFor(this.#room, config, [this.#fanout, this.#hub], tally),
    });
    const isStopping = () => this.#isStopping;
    this.#pipeline = new Pipeline({
      gate: this.#gate,
      routes: this.routes,
      config,
      isStopping,
      isCrowded: (address) => this.#census.isOver(address),
      log,
    });
  }

  /** Listens and serves; resolves with the ports in use. Rejects with ListenError, or an Error for a bad certificate. */
  async start(): Promise<readonly Bound[]> {
    const { config, host, log } = this.#base;
    let bound: readonly Bound[];
    try {
      bound = await listenAll(this.#server, config.current.server);
    } catch (error) {
      this.#server.close();
      throw error;
    }
    const ports = bound.map(({ port }) => port);
    const canJudge = canJudgePeers(host, log);
    this.#tune = () => ports.map((port) => tuneListening(host, port, canJudge)).every((isTuned) => isTuned);
    const isTuned = this.#tune();
    this.#heap?.start();
    if (canJudge) {
      this.#peers.start(...ports);
      this.#census.start(...ports);
    }
    const limit = host.descriptorLimit();
    if (limit < MIN_DESCRIPTORS)
      log.warn(
        `only ${limit} files may be open, the service needs ${MIN_DESCRIPTORS}: raise "ulimit -n" or LimitNOFILE=`,
      );
    this.#server.maxConnections = this.#room.maxConnections();
    this.#fanout.stallLimitSeconds = canJudge || isTuned ? Number.POSITIVE_INFINITY : UNTUNED_STALL_SECONDS;
    this.#exporters.start({ ...this.#exporterParts, doors: bound });
    return bound;
  }

  /** Puts a new configuration into effect while streams go on. Keys that need a restart keep their old values in it. */
  reconfigure(next: Config): void {
    const { config, log } = this.#base;
    const before = pairOf(config.current.server);
    config.current = next;
    log.setLevel(next.log.level);
    this.#sampler.setInterval(next.stats.stream_interval_seconds);
    this.#gate.reconfigure(next);
    const passes = this.#gate.passes.bind(this.#gate);
    this.#fanout.judgeAgain(passes);
    this.#hub.reconfigure(passes);
    this.#exporters.reconfigure();
    const pair = pairOf(next.server);
    if (pair !== undefined && !isDeepStrictEqual(pair, before)) void this.#renew(pair);
  }

  /** Never rejects. */
  async #renew(pair: TlsPair): Promise<void> {
    const { log } = this.#base;
    try {
      await this.#server.renew(pair);
      this.#tune();
      log.info(`new connections get the certificate in ${pair.cert.path}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error(`the certificate was not renewed, the old one stays in use: ${reason}`);
    }
  }

  /** Stops within a second: no new connections, streams end on a frame boundary. */
  async close(): Promise<void> {
    this.#isStopping = true;
    this.#server.stopListening();
    this.#peers.stop();
    this.#census.stop();
    this.#heap?.stop();
    const startedAt = performance.now();
    const exportersClosed = this.#exporters.close();
    // First, so that its subscribers are still there to be notified of dropped actions.
    this.#power.close();
    const isDrained = this.#fanout.close() + this.#hub.close('the service is shutting down') === 0;
    this.#sampler.close();
    const isSettled = () => isDrained && this.#server.pending === 0;
    const hasTime = (limitMs: number) => performance.now() - startedAt < limitMs;
    // In real time, which is what the kernel takes. Ended streams' connections stay open for another request: nothing
    // waits for those.
    do await new Promise((resolve) => setTimeout(resolve, CLOSE_GRACE_MS));
    while (
      (this.#fanout.isEnding && hasTime(WRITER_LIMIT_MS)) ||
      (!isSettled() && this.#server.connections > 0 && hasTime(CLOSE_LIMIT_MS))
    );
    this.#server.close();
    await exportersClosed;
  }
}
