/** The composition root: builds the parts, connects them, and is all that main knows of them. */
import { type Clock, systemClock } from './clock.ts';
import type { Power } from './commands/power.ts';
import { SleepInhibitor } from './commands/sleep-inhibitor.ts';
import { createCommands, createHistory, createStats } from './composition.ts';
import type { LiveConfig } from './config/current.ts';
import type { EngineChoice } from './engines.ts';
import { EXPORTERS, type ExporterDeps, Exporters } from './exporters/exporters.ts';
import { EventBook } from './history/event-book.ts';
import { logEvents } from './history/event-log.ts';
import type { History } from './history/history.ts';
import { isSubject } from './history/incidents.ts';
import { Mutes } from './history/mutes.ts';
import { HistoryQueries } from './history/queries.ts';
import type { RecordedHistory } from './history/recorded.ts';
import { rulesIn } from './history/rules.ts';
import type { Host } from './host/host.ts';
import type { Bound } from './http/connections/listening.ts';
import type { Route } from './http/routes.ts';
import { HttpServer } from './http-server.ts';
import type { Log } from './log/log.ts';
import { Describer } from './machine/description.ts';
import { LocalMachine } from './machine/local.ts';
import { sharedSystem } from './machine/system.ts';
import type { Sampler } from './stats/sampler.ts';
import type { ServiceFacts } from './stats/system.ts';
import { readPages } from './viewers/pages/pages.ts';
import { HEADERS_READ, serviceRoutes } from './viewers/routes/service-routes.ts';
import { Sockets } from './viewers/socket/sockets.ts';

export interface ServiceOptions {
  readonly config: LiveConfig;
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
  /** For tests: what is asked in place of the recorder. */
  readonly history?: History;
}

export class Service {
  readonly #http: HttpServer;
  readonly #sampler: Sampler;
  readonly #sockets: Sockets;
  readonly #history: RecordedHistory;
  readonly #mutes: Mutes;
  readonly #power: Power;
  readonly #describer: Describer;
  readonly #exporters = new Exporters(EXPORTERS);
  readonly #exporterDeps: Omit<ExporterDeps, 'addresses'>;
  /** For the test that compares the API documents with it. */
  readonly routes: readonly Route[];

  constructor({
    config,
    host,
    engine,
    log,
    facts,
    machineNames,
    rss,
    clock = systemClock(() => host.sinceBootMs()),
    history: given,
  }: ServiceOptions) {
    const base = { config, host, clock, log };
    const { sampler, readings, queries } = createStats(base);
    const { power, media, processControl, wakeControl, commands } = createCommands(base, facts.pid);
    const dashboard = readPages('web');
    const dashboardPaths = dashboard.map((file) => file.path);
    const http = new HttpServer({
      base,
      engine,
      machineNames,
      dashboardPaths,
      rss,
      headersRead: HEADERS_READ,
    });
    const { gate, server, counts, keyUses, streams } = http;
    this.#http = http;
    const recorded = createHistory(base, { sampler, readings }, keyUses, facts);
    this.#history = recorded.history;
    gate.onWrongKey = recorded.incidents.onWrongKey;
    const kept = given ?? this.#history;
    const history = new HistoryQueries({ history: kept, clock, unixMs: Date.now });
    const systemDeps = { host, facts, source: sampler, power, media, processControl, wakeControl };
    const readSystem = sharedSystem(systemDeps);
    this.#describer = new Describer({ config, host, facts });
    const { path } = config.current.history;
    this.#mutes = new Mutes({
      clock,
      unixMs: Date.now,
      log,
      path: path === undefined ? undefined : `${path}.mutes`,
      find: (what) => this.#findMuted(what, config),
    });
    const events = new EventBook({ mutes: this.#mutes, unixMs: Date.now });
    logEvents({ history, config, machine: this.#describer.id, book: events });
    const machine = new LocalMachine({
      config,
      sampler,
      media,
      power,
      processes: queries,
      history,
      events,
      commands,
      readSystem,
    });
    const deps = { sampler, history, commands, power, media, machine, events };
    const inhibitor = new SleepInhibitor(power.delays);
    this.#exporterDeps = {
      ...base,
      facts,
      ...deps,
      inhibitor,
      serve: (carrier, caller) => this.#sockets.serve(carrier, caller, machine),
    };
    this.#sampler = sampler;
    this.#power = power;
    this.#sockets = new Sockets({
      version: facts.version,
      role: 'hostwire',
      describe: () => this.#describer.describe(),
      inhibitor,
      features: () => config.current.features,
      find: () => machine,
      ends: machine.ends,
      intervalMs: () => sampler.intervalMs,
      clock,
      log,
      server,
      counts,
      quota: http.quota,
      gate,
    });
    power.onPlan((plan) => {
      // An action that is only recorded ends nothing.
      if (config.current.power.backend !== 'record') this.#sockets.announce(plan);
    });
    this.routes = serviceRoutes({
      machine,
      events,
      log,
      gate,
      streams,
      sockets: this.#sockets,
      keys: { config, uses: keyUses },
      dashboard,
      metrics: {
        host,
        source: sampler,
        clock,
        facts,
        engine: engine.name,
        sampler,
        gate,
        server,
        streams: () => streams.figures,
        sockets: this.#sockets,
        media,
        config,
        log,
        rss,
        processes: readings,
      },
      hasCapacity: http.capacityBeside(),
    });
    http.serve(this.routes);
    // After the HTTP server, whose gate has the new configuration already.
    config.onChange(() => {
      sampler.setInterval(config.current.stats.stream_interval_seconds);
      const passes = gate.passes.bind(gate);
      streams.revalidate(passes);
      this.#sockets.reconfigure(passes);
    });
  }

  /** Returns the rule, the subject, or the id of this machine. */
  #findMuted(what: string, config: LiveConfig): string | undefined {
    const { id, name } = this.#describer.describe();
    if (what === id || what === name) return id;
    return Object.hasOwn(rulesIn(config.current.watch), what) || isSubject(what) ? what : undefined;
  }

  /** Listens and serves; resolves with the ports in use. Rejects with ListenError, or an Error for a bad certificate. */
  async start(): Promise<readonly Bound[]> {
    const bound = await this.#http.start();
    this.#history.start();
    void this.#describer.read();
    this.#exporters.start({ ...this.#exporterDeps, addresses: bound });
    return bound;
  }

  /**
   * Stops within a second: no new connections, streams end on a frame boundary. False: a thread hangs in the kernel, and
   * only `NativeProcess.exitNow` ends the process.
   */
  async close(): Promise<boolean> {
    this.#http.stop();
    const exportersClosed = this.#exporters.close();
    const historyClosed = this.#history.close();
    this.#mutes.close();
    // First, so that its subscribers are still there to be notified of dropped actions.
    this.#power.close();
    const isDrained = this.#http.streams.close() + this.#sockets.close('the service is shutting down') === 0;
    this.#sampler.close();
    await this.#http.close(isDrained);
    await exportersClosed;
    return await historyClosed;
  }
}
