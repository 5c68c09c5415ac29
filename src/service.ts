/** The composition root: builds the parts, wires them, and is all that main knows of them. */
import os from 'node:os';
import { SYSTEM_CLOCK } from './clock.ts';
import { chooseBackend } from './commands/choose-backend.ts';
import { Commands } from './commands/command.ts';
import { Media, mediaCommands } from './commands/media.ts';
import { Power, powerCommands } from './commands/power.ts';
import { ProcessControl, processCommands } from './commands/process.ts';
import type { Config } from './config/schema.ts';
import type { Host } from './host/host.ts';
import { ALL_SECTIONS } from './host/host.ts';
import {
  canJudgePeers,
  listenOn,
  mostConnections,
  mostStreams,
  tuneListening,
} from './http/connections/listening.ts';
import { PeerWatch } from './http/connections/peers.ts';
import { readDashboard } from './http/endpoints/dashboard.ts';
import { HEADERS_READ, surfaceOf } from './http/endpoints/surface.ts';
import { Gate, SOCKET_PATH } from './http/gate.ts';
import { Pipeline } from './http/pipeline.ts';
import type { Route } from './http/routes.ts';
import { Sockets } from './http/socket/hub.ts';
import { Fanout, TEND_MS } from './http/stream/fanout.ts';
import { HttpServer } from './http/uws/server.ts';
import type { Log } from './log.ts';
import { ProcessQueries } from './processes/queries.ts';
import { ProcessReadings } from './processes/readings.ts';
import { Sampler } from './stats/sampler.ts';
import { deriveSystem, deriveSystemDetail, type ServiceFacts } from './stats/system.ts';
import { viewOf } from './stats/view.ts';
import type { SystemPayload } from './wire/system.ts';

export interface ServiceOptions {
  readonly config: Config;
  readonly host: Host;
  readonly log: Log;
  readonly facts: ServiceFacts;
  /** The machine's short and full host name: the web guard lets them through. */
  readonly machineNames: readonly string[];
}

/** When a socket without room is cut where the kernel can't be told to. */
const UNTUNED_STALL_SECONDS = 30;

/** What connections are given to take their last bytes: the promise is to be gone within a second, under load too. */
const CLOSE_LIMIT_MS = 500;
/** How often that is looked at; so long at least, for what an event stream keeps without telling. */
const CLOSE_GRACE_MS = 50;

export class Service {
  readonly #options: ServiceOptions;
  readonly #sampler: Sampler;
  readonly #processQueries: ProcessQueries | undefined;
  readonly #processControl: ProcessControl;
  readonly #fanout: Fanout;
  readonly #sockets: Sockets;
  readonly #power: Power;
  readonly #media: Media;
  readonly #commands: Commands;
  readonly #pipeline: Pipeline;
  readonly #server: HttpServer;
  readonly #gate: Gate;
  /** The surface, for the test that holds the API documents against it. */
  readonly routes: readonly Route[];
  readonly #dashboard = readDashboard();
  readonly #peers: PeerWatch;
  #config: Config;
  #isStopping = false;
  #tendTimer: NodeJS.Timeout | undefined;

  constructor(options: ServiceOptions) {
    const { config, host, log, facts } = options;
    this.#options = options;
    this.#config = config;
    this.#gate = new Gate({
      config,
      machineNames: options.machineNames,
      dashboardPaths: this.#dashboard.map((file) => file.path),
      log,
      now: SYSTEM_CLOCK.now,
    });
    const { processes } = host;
    const readings = processes && new ProcessReadings({ host: processes, clock: SYSTEM_CLOCK });
    const mayControl = () => this.#config.features.enable_process_control;
    this.#processQueries =
      processes && readings && new ProcessQueries({ host: processes, readings, mayControl });
    this.#sampler = this.#createSampler(readings);
    this.#fanout = this.#createFanout();
    const features = () => this.#config.features;
    this.#power = this.#createPower(features);
    const onMediaChange = () => this.#sockets.onMediaChange();
    this.#media = new Media({
      host: host.media,
      clock: SYSTEM_CLOCK,
      features,
      log,
      onChange: onMediaChange,
    });
    const apps = () => this.#config.processes.launch;
    this.#processControl = new ProcessControl({ host: processes, ownPid: facts.pid, apps, log });
    const commands = [
      ...powerCommands(this.#power),
      ...mediaCommands(this.#media),
      ...processCommands(this.#processControl),
    ];
    this.#commands = new Commands(commands, features, (report) => this.#sockets.onReport(report));
    this.#sockets = this.#createSockets(features);
    this.routes = this.#routes();
    this.#pipeline = new Pipeline({
      gate: (head) => this.#gate.judge(head),
      routes: this.routes,
      features,
      isStopping: () => this.#isStopping,
      log,
    });
    this.#server = new HttpServer({
      headersRead: HEADERS_READ,
      socketPath: SOCKET_PATH,
      onRequest: (exchange) => this.#pipeline.handle(exchange),
      onConnection: () => this.#peers.wake(),
    });
    const connections = () => this.#server.connections;
    this.#peers = new PeerWatch({ host, clock: SYSTEM_CLOCK, log, connections });
  }

  /** Listens and serves; the host and port that it listens on. Throws ListenError. */
  start(): { readonly host: string; readonly port: number } {
    const { host, port } = this.#config.server;
    const bound = listenOn(this.#server, host, port);
    const canJudge = canJudgePeers(this.#options.host, this.#options.log);
    const isTuned = tuneListening(this.#options.host, bound.port, canJudge);
    if (canJudge) this.#peers.start(bound.port);
    this.#server.mostConnections = mostConnections(this.#options.host.descriptorLimit());
    this.#fanout.stallLimitSeconds = canJudge || isTuned ? Number.POSITIVE_INFINITY : UNTUNED_STALL_SECONDS;
    return bound;
  }

  /** Takes new settings over while streams go on. What needs a restart is not looked at again. */
  reconfigure(config: Config): void {
    this.#config = config;
    this.#options.log.setLevel(config.log.level);
    this.#sampler.setInterval(config.stats.stream_interval_seconds);
    this.#gate.reconfigure(config);
    const passes = this.#gate.passes.bind(this.#gate);
    this.#fanout.judgeAgain(passes);
    this.#sockets.reconfigure(passes);
  }

  /** Stops within a second: no new connections, streams end on a frame boundary. */
  async close(): Promise<void> {
    this.#isStopping = true;
    this.#server.stopListening();
    clearInterval(this.#tendTimer);
    this.#peers.stop();
    const begun = performance.now();
    // First: who waits for an act hears that it is dropped.
    this.#power.close();
    const areDrained = this.#fanout.close() + this.#sockets.close('the service is being stopped') === 0;
    this.#sampler.close();
    const isSettled = () => areDrained && this.#server.pending === 0;
    // Ended streams' connections stay open, for another request: nobody waits for those.
    do await new Promise((resolve) => setTimeout(resolve, CLOSE_GRACE_MS));
    while (!isSettled() && this.#server.connections > 0 && performance.now() - begun < CLOSE_LIMIT_MS);
    this.#server.close();
  }

  #routes(): readonly Route[] {
    return surfaceOf({
      gate: this.#gate,
      sampler: this.#sampler,
      fanout: this.#fanout,
      sockets: this.#sockets,
      commands: this.#commands,
      power: this.#power,
      media: this.#media,
      processQueries: this.#processQueries,
      dashboard: this.#dashboard,
      readSystem: (withDetail) => this.#readSystem(withDetail),
      hasRoom: () => this.#hasRoom(),
    });
  }

  async #readSystem(withDetail: boolean): Promise<SystemPayload> {
    const { host, facts } = this.#options;
    const [info, encoded] = await Promise.all([
      host.readSystem(),
      this.#sampler.latest(viewOf(ALL_SECTIONS, true)),
    ]);
    if (!withDetail) return deriveSystem(info, encoded.sample, facts);
    return deriveSystemDetail(info, encoded.sample, facts, {
      power: await this.#power.capabilities(),
      media: await this.#media.capability(),
      processes: this.#processControl.capabilities(this.#config.features),
    });
  }

  #createSampler(readings: ProcessReadings | undefined): Sampler {
    const { config, host, log } = this.#options;
    return new Sampler({
      host,
      clock: SYSTEM_CLOCK,
      intervalSeconds: config.stats.stream_interval_seconds,
      hostname: os.hostname(),
      readProcesses: (nextInMs, intervalMs) =>
        this.#config.features.enable_processes ? readings?.summary(nextInMs, intervalMs) : undefined,
      onSample: (encoded) => {
        this.#fanout.publish(encoded);
        this.#sockets.publish(encoded);
      },
      onSectionChange: (section, reason) =>
        reason === undefined
          ? log.info(`${section} can be read again`)
          : log.warn(`${section} can't be read: ${reason}`),
    });
  }

  #createFanout(): Fanout {
    return new Fanout({
      now: SYSTEM_CLOCK.now,
      defer: (slice) => void setImmediate(slice),
      onSubscribed: (view) => {
        this.#sampler.subscribe(view);
        this.#updateTendTimer();
      },
      onUnsubscribed: (view) => {
        this.#sampler.unsubscribe(view);
        this.#updateTendTimer();
      },
    });
  }

  #createPower(features: () => Config['features']): Power {
    const { config, host, log } = this.#options;
    return new Power({
      backend: chooseBackend({
        wanted: config.power.backend,
        host: host.power,
        clock: SYSTEM_CLOCK,
        log,
        onWake: () => this.#power.drop(),
      }),
      clock: SYSTEM_CLOCK,
      unixMs: Date.now,
      features,
      log,
      onFeedback: (feedback, followers) => this.#sockets.onPowerFeedback(feedback, followers),
      onChange: () => this.#sockets.onPowerChange(),
    });
  }

  #createSockets(features: () => Config['features']): Sockets {
    const { facts, log } = this.#options;
    return new Sockets({
      version: facts.version,
      commands: this.#commands,
      features,
      log,
      now: SYSTEM_CLOCK.now,
      defer: (slice) => void setImmediate(slice),
      publish: (topic, bytes) => this.#server.publish(topic, bytes),
      onSubscribed: (view) => this.#sampler.subscribe(view),
      onUnsubscribed: (view) => this.#sampler.unsubscribe(view),
      peek: (view) => this.#sampler.peek(view),
      latest: (view) => this.#sampler.latest(view),
      intervalMs: () => this.#sampler.intervalMs,
      readMedia: (withDetail) => this.#media.status(undefined, withDetail),
      readPower: () => this.#power.status(),
      queries: this.#processQueries,
    });
  }

  #hasRoom(): boolean {
    const most = mostStreams(this.#options.host.descriptorLimit(), this.#config.server.max_streams);
    return this.#fanout.size + this.#sockets.size < most;
  }

  #updateTendTimer(): void {
    const isNeeded = this.#fanout.size > 0;
    if (isNeeded === (this.#tendTimer !== undefined)) return;
    clearInterval(this.#tendTimer);
    this.#tendTimer = isNeeded ? setInterval(() => this.#fanout.tend(), TEND_MS) : undefined;
  }
}
