/**
 * The composition root of `hostwire hub`: the machines of many services behind one. It has the HTTP server of the
 * service (http-server.ts) and nothing that reads this machine. Loaded late.
 */
import os from 'node:os';
import { hubExposureWarning } from '../access/exposure.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { LiveConfig } from '../config/current.ts';
import type { EngineChoice } from '../engines.ts';
import { Exporters, NOTIFY } from '../exporters/exporters.ts';
import { PLACES } from '../fairness/limits.ts';
import { Places } from '../fairness/places.ts';
import { EventBook } from '../history/event-book.ts';
import { Mutes } from '../history/mutes.ts';
import type { Host } from '../host/host.ts';
import { dashboardUrl } from '../http/connections/dashboard-url.ts';
import type { Bound } from '../http/connections/listening.ts';
import { SOCKET_PATHS } from '../http/gate.ts';
import type { Route } from '../http/routes.ts';
import { HttpServer } from '../http-server.ts';
import { Listeners } from '../listeners.ts';
import type { Log } from '../log/log.ts';
import { Machines } from '../machine/machines.ts';
import { Registry } from '../machine/registry.ts';
import { type RemoteDeps, TIMES, type Times } from '../machine/remote-deps.ts';
import { wakersIn, wakersOf } from '../machine/wakers.ts';
import type { NotifyDeps } from '../notify/notify.ts';
import type { ServiceFacts } from '../stats/system.ts';
import { Fleet } from '../viewers/fleet/fleet.ts';
import { fileRoutes, readHubPages } from '../viewers/pages/pages.ts';
import { Sockets } from '../viewers/socket/sockets.ts';
import { HUB_OPERATIONS } from '../wire/hub-operations.ts';
import { Brokers } from './brokers.ts';
import { CommandGateway } from './commands/command-gateway.ts';
import { DialIns } from './dial-ins.ts';
import { DialOuts } from './dial-outs.ts';
import { HUB_HEADERS, hubRoutes } from './endpoints.ts';
import { HubEvents } from './events.ts';
import { FirstQuestions } from './first-questions.ts';
import { hubMetrics } from './metrics.ts';

export interface HubOptions {
  readonly config: LiveConfig;
  readonly host: Host;
  readonly engine: EngineChoice;
  readonly log: Log;
  readonly facts: Pick<ServiceFacts, 'version' | 'node' | 'platform'>;
  /** The machine's short and full host name: the web guard lets them through. */
  readonly machineNames: readonly string[];
  /** The resident memory of this process, in bytes. Without it none is returned to the system early. */
  readonly rss?: () => number;
  /** For tests. */
  readonly clock?: Clock;
  readonly times?: Partial<Times>;
  /** Milliseconds from a machine's first status to the questions about it. */
  readonly firstQuestionMs?: number;
}

/** From one look at all machines to the next. */
const LOOK_MS = 1000;

export class HubService {
  readonly #http: HttpServer;
  readonly #log: Log;
  readonly #config: LiveConfig;
  readonly #machines: Machines;
  readonly #clock: Clock;
  readonly #registry: Registry;
  readonly #questions: FirstQuestions;
  readonly #fleet: Fleet;
  #timer: unknown;
  readonly #dialIns: DialIns;
  readonly #dialOuts: DialOuts;
  readonly #brokers: Brokers;
  readonly #gateway: CommandGateway;
  readonly #sockets: Sockets;
  readonly #mutes: Mutes;
  readonly #book: EventBook;
  readonly #events: HubEvents;
  readonly #exporters = new Exporters<NotifyDeps>([NOTIFY]);
  /** Without the pages; for the test that compares the API document with it. */
  readonly routes: readonly Route[];

  constructor(options: HubOptions) {
    const { config, host, engine, log, machineNames, rss, times, facts } = options;
    const { clock = systemClock(() => host.sinceBootMs()) } = options;
    const { version, node, platform } = facts;
    const initial = config.current;
    const pages = readHubPages();
    const http = new HttpServer({
      base: { config, host, clock, log },
      engine,
      machineNames,
      rss,
      dashboardPaths: pages.map(({ path }) => path),
      headersRead: HUB_HEADERS,
      socketPaths: [...SOCKET_PATHS, HUB_OPERATIONS.openHostSocket.path, HUB_OPERATIONS.dialIn.path],
      provenPaths: [HUB_OPERATIONS.dialIn.path],
      longSocketPaths: [HUB_OPERATIONS.dialIn.path],
      exposure: hubExposureWarning,
    });
    const { counts, gate, streams } = http;
    const counters = { samples: 0, sampleBytes: 0, connections: 0, failures: 0 };
    const registry = new Registry({
      path: initial.hub.state_path,
      clock,
      log,
      machines: () => this.#machines.all,
      onNewRun: (id) => this.#questions.add(id),
    });
    this.#registry = registry;
    this.#questions = new FirstQuestions(() => this.#machines, registry, clock, options.firstQuestionMs);
    const allTimes = { ...TIMES, ...times };
    this.#gateway = new CommandGateway({
      rules: initial.hub.commands,
      clock,
      times: allTimes,
      log,
      wakerOf: (host) => wakersOf(host, wakersIn(this.#machines, registry))[0],
    });
    const deps: RemoteDeps = {
      clock,
      log,
      counters,
      registry,
      commander: this.#gateway,
      limits: {
        questions: new Places(PLACES.hubQuestions.max),
        commands: new Places(PLACES.hubCommands.max),
      },
      times: allTimes,
      conditions: new Listeners(),
      random: Math.random,
    };
    this.#http = http;
    this.#log = log;
    this.#clock = clock;
    this.#config = config;
    this.#dialIns = new DialIns(deps, gate);
    this.#dialOuts = new DialOuts(deps);
    const machines = new Machines(deps, (id, entry, spreadMs) =>
      entry.url === undefined ? this.#dialIns.add(id, entry) : this.#dialOuts.add(id, entry, spreadMs),
    );
    this.#machines = machines;
    machines.reconfigure(initial.hub.agents);
    this.#brokers = new Brokers(deps, machines);
    const { conditions } = deps;
    this.#mutes = new Mutes({
      clock,
      unixMs: Date.now,
      log,
      path: this.#besideState('mutes'),
      find: (what) => this.#findMuted(what),
    });
    this.#book = new EventBook({ mutes: this.#mutes, unixMs: Date.now });
    const book = this.#book;
    this.#events = new HubEvents({ book, machines, conditions, clock });
    this.#fleet = new Fleet(
      { hosts: machines, registry, events: book, clock, log, streams },
      initial.stats.stream_interval_seconds * 1000,
    );
    this.#sockets = new Sockets({
      version,
      role: 'the hub of hostwire',
      // The flags are those of each machine.
      features: () => ({}),
      find: (id, caller) => machines.find(id, caller),
      fleet: this.#fleet,
      conditions,
      ends: this.#gateway.ends,
      intervalMs: () => config.current.stats.stream_interval_seconds * 1000,
      clock,
      log,
      server: http.server,
      counts,
      gate,
    });
    this.routes = hubRoutes({
      streams,
      fleet: this.#fleet,
      events: book,
      log,
      machines,
      gate,
      sockets: this.#sockets,
      dialIns: this.#dialIns,
      keys: { config, uses: http.keyUses },
      hasCapacity: http.capacityBeside(this.#dialIns),
      metrics: () =>
        hubMetrics({
          states: machines.states,
          streams: streams.figures,
          sockets: this.#sockets,
          counters,
          up: Object.fromEntries(machines.all.map(({ id, isUp }) => [id, Number(isUp)])),
          build: { version, engine: engine.name, node, platform },
          rss: rss?.(),
          refusals: gate.refusals,
        }),
    });
    http.serve([...this.routes, ...fileRoutes(pages)]);
    config.onChange(() => this.#reconfigure());
  }

  /** Listens and serves; resolves with the ports in use. Rejects with ListenError, or an Error for a bad certificate. */
  async start(): Promise<readonly Bound[]> {
    const bound = await this.#http.start();
    this.#http.trimSoon();
    const { agents, brokers } = this.#config.current.hub;
    const { length } = Object.keys(agents);
    if (length > 0) this.#log.info(`${length} ${length === 1 ? 'machine' : 'machines'} in hub.agents`);
    else if (Object.keys(brokers).length === 0)
      this.#log.warn('hub.agents and hub.brokers are both empty, so there are no machines to show');
    this.#brokers.configure(brokers);
    this.#look();
    this.#exporters.start(this.#notifyDeps(bound));
    return bound;
  }

  #notifyDeps(addresses: readonly Bound[]): NotifyDeps {
    const config = this.#config;
    return {
      config,
      clock: this.#clock,
      log: this.#log,
      events: this.#book,
      path: this.#besideState('notify'),
      nameOf: (id) => this.#machines.at(id)?.name ?? id,
      link: (id) => {
        const hub = dashboardUrl(config.current, addresses, config.current.host.name ?? os.hostname());
        return hub === undefined || id === undefined ? hub : `${hub}/hosts/${encodeURIComponent(id)}/`;
      },
      // Machines that cannot be read have events.
      check: async () => undefined,
    };
  }

  /** The file for `what`; undefined: it is kept in memory alone. */
  #besideState(what: string): string | undefined {
    const { state_path: path } = this.#config.current.hub;
    return path === undefined ? undefined : `${path}.${what}`;
  }

  /** Returns the id of a machine, or the rule or the subject of an event. */
  #findMuted(what: string): string | undefined {
    const machines = this.#machines.all.filter(({ id, name }) => id === what || name === what);
    if (machines.length === 1) return machines[0]?.id;
    const { events } = this.#book.since(undefined);
    const isSubject = [...this.#book.open, ...events].some(({ subject }) => subject.split(' ')[0] === what);
    return isSubject ? what : undefined;
  }

  #look(): void {
    this.#timer = this.#clock.setTimer(() => this.#look(), LOOK_MS);
    this.#machines.look(this.#clock.now());
  }

  /** Follows the configuration while streams continue; the gate has it already. */
  #reconfigure(): void {
    const { gate, streams } = this.#http;
    const next = this.#config.current;
    this.#machines.reconfigure(next.hub.agents);
    this.#brokers.configure(next.hub.brokers);
    this.#gateway.reconfigure(next.hub.commands);
    this.#fleet.reconfigure(next.stats.stream_interval_seconds * 1000);
    const passes = gate.passes.bind(gate);
    streams.revalidate(passes);
    this.#sockets.reconfigure(passes);
    this.#dialIns.revalidate(passes);
  }

  /** Stops within a second, as the service; true: a hub has no threads that could hang in the kernel. */
  async close(): Promise<boolean> {
    this.#http.stop();
    const exportersClosed = this.#exporters.close();
    this.#events.close();
    this.#mutes.close();
    const kept = this.#registry.close();
    this.#questions.close();
    this.#clock.clearTimer(this.#timer);
    this.#dialOuts.close();
    this.#gateway.close();
    const full = this.#sockets.close('the hub is shutting down');
    const isDrained = full + this.#http.streams.close() === 0;
    this.#fleet.close();
    this.#machines.close();
    await Promise.all([this.#http.close(isDrained), this.#brokers.close(), exportersClosed, kept]);
    return true;
  }
}
