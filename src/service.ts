/** The composition root: builds the parts, wires them, and is all that main knows of them. */
import os from 'node:os';
import type { AccessRequest } from './access/request.ts';
import type { Clock } from './clock.ts';
import { Commands } from './commands/command.ts';
import { Power, powerCommands } from './commands/power.ts';
import { absentBackend, type PowerBackend, recordingBackend } from './commands/power-backend.ts';
import type { Config } from './config/schema.ts';
import type { Host, ListenerOptions } from './host/host.ts';
import { ALL_SECTIONS } from './host/host.ts';
import { GATE_HEADERS, Gate } from './http/gate.ts';
import { Pipeline } from './http/pipeline.ts';
import { powerRoutes } from './http/power-routes.ts';
import { HttpServer } from './http/server.ts';
import { statsRoutes } from './http/stats-routes.ts';
import { Fanout } from './http/stream.ts';
import type { Log } from './log.ts';
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

const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  setTimer: (fire, delayMs) => setTimeout(fire, delayMs),
  // What setTimer returned: the only handles that ever come here.
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

/** Inherited by every connection. Why these numbers: docs/performance.md. */
const LISTENER: ListenerOptions = {
  notSentLowWaterBytes: 16 * 1024,
  userTimeoutMs: 20_000,
  keepAliveIdleSeconds: 10,
  keepAliveIntervalSeconds: 5,
  keepAliveProbes: 2,
  backlog: 4096,
};

const HEADERS_READ = new Set([
  ...GATE_HEADERS,
  'connection',
  'content-length',
  'transfer-encoding',
  'content-type',
]);

/** What connections are given to take their last bytes: the promise is to be gone within a second, under load too. */
const CLOSE_LIMIT_MS = 400;
/** Where every request is answered and no subscriber lags, the kernel has all bytes: this is for what is on its way. */
const CLOSE_REST_MS = 100;

function powerBackendOf({ config, log }: ServiceOptions): PowerBackend {
  if (config.power.backend === 'record') {
    log.warn('power.backend is record: power commands are answered and listed, and nothing is done');
    return recordingBackend(Date.now, log);
  }
  return absentBackend('no power manager of this machine can be reached by this version');
}

export class Service {
  readonly #options: ServiceOptions;
  readonly #sampler: Sampler;
  readonly #fanout: Fanout;
  readonly #power: Power;
  readonly #commands: Commands;
  readonly #pipeline: Pipeline;
  readonly #server: HttpServer;
  readonly #gate: Gate;
  #config: Config;
  #isStopping = false;
  #silenceTimer: NodeJS.Timeout | undefined;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#gate = new Gate({
      config: options.config,
      machineNames: options.machineNames,
      log: options.log,
      now: SYSTEM_CLOCK.now,
    });
    this.#sampler = new Sampler({
      host: options.host,
      clock: SYSTEM_CLOCK,
      intervalSeconds: options.config.stats.stream_interval_seconds,
      hostname: os.hostname(),
      onSample: (encoded) => this.#fanout.publish(encoded),
      onSectionChange: (section, reason) =>
        reason === undefined
          ? options.log.info(`${section} can be read again`)
          : options.log.warn(`${section} can't be read: ${reason}`),
    });
    this.#fanout = new Fanout({
      now: SYSTEM_CLOCK.now,
      defer: (slice) => void setImmediate(slice),
      onSubscribed: (view) => {
        this.#sampler.subscribe(view);
        this.#updateSilenceTimer();
      },
      onUnsubscribed: (view) => {
        this.#sampler.unsubscribe(view);
        this.#updateSilenceTimer();
      },
    });
    const features = () => this.#config.features;
    this.#power = new Power({
      backend: powerBackendOf(options),
      clock: SYSTEM_CLOCK,
      unixMs: Date.now,
      features,
      log: options.log,
      onFeedback: () => undefined,
    });
    this.#commands = new Commands(powerCommands(this.#power), features);
    this.#pipeline = new Pipeline({
      gate: (head) => this.#gate.judge(head),
      routes: this.#routes(),
      features,
      isStopping: () => this.#isStopping,
      log: options.log,
    });
    this.#server = new HttpServer({
      headersRead: HEADERS_READ,
      onRequest: (exchange) => this.#pipeline.handle(exchange),
    });
  }

  /** Listens and serves; the host and port that it listens on. Throws ListenError. */
  start(): { readonly host: string; readonly port: number } {
    const { host, port } = this.#config.server;
    const bound = this.#listen(host, port);
    this.#options.host.tuneListener(bound.port, LISTENER);
    return bound;
  }

  /** Takes new settings over while streams go on. What needs a restart is not looked at again. */
  reconfigure(config: Config): void {
    this.#config = config;
    this.#options.log.setLevel(config.log.level);
    this.#sampler.setInterval(config.stats.stream_interval_seconds);
    this.#updateSilenceTimer();
    this.#gate.reconfigure(config);
    // What the gate's own verdict gave the stream.
    this.#fanout.judgeAgain((client) => this.#gate.passes(client as AccessRequest));
  }

  /** Stops within a second: no new connections, streams end on a frame boundary. */
  async close(): Promise<void> {
    this.#isStopping = true;
    this.#server.stopListening();
    clearInterval(this.#silenceTimer);
    const { hasLaggards } = this.#fanout;
    this.#fanout.close();
    this.#sampler.close();
    this.#power.close();
    const startedAt = performance.now();
    for (let passed = 0; passed < CLOSE_LIMIT_MS; passed = performance.now() - startedAt) {
      const isQuiet = !hasLaggards && this.#pipeline.unanswered === 0 && passed >= CLOSE_REST_MS;
      if (this.#server.connections === 0 || isQuiet) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    this.#server.close();
  }

  #listen(host: string, port: number): { readonly host: string; readonly port: number } {
    try {
      return { host, port: this.#server.listen(host, port) };
    } catch (error) {
      // A kernel without IPv6 has no "::" to listen on.
      if (host !== '::') throw error;
      return { host: '0.0.0.0', port: this.#server.listen('0.0.0.0', port) };
    }
  }

  #routes() {
    const power = { commands: this.#commands, readStatus: () => this.#power.status() };
    return [...this.#statsRoutes(), ...powerRoutes(power)];
  }

  #statsRoutes() {
    return statsRoutes({
      latest: (view) => this.#sampler.latest(view),
      peek: (view) => this.#sampler.peek(view),
      isTickNear: () => this.#sampler.nextTickInMs < this.#sampler.intervalMs / 2,
      fanout: this.#fanout,
      hasRoom: () =>
        this.#config.server.max_streams === 0 || this.#fanout.size < this.#config.server.max_streams,
      readSystem: (withDetail) => this.#readSystem(withDetail),
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
    });
  }

  // Ticks come more often than comments unless the interval is long.
  #updateSilenceTimer(): void {
    const isNeeded = this.#fanout.size > 0 && this.#sampler.intervalMs > 15_000;
    if (isNeeded === (this.#silenceTimer !== undefined)) return;
    clearInterval(this.#silenceTimer);
    this.#silenceTimer = isNeeded ? setInterval(() => this.#fanout.breakSilence(), 1000) : undefined;
  }
}
