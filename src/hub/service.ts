/**
 * The composition root of `hostwire hub`: the machines of many services behind one. It has the front of the service
 * (front.ts) and nothing that reads this machine. Loaded late, as a part of its own that shares no module with the service.
 */
import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config/schema.ts';
import type { EngineChoice } from '../engines.ts';
import { Front, type OpenStreams } from '../front.ts';
import type { Host } from '../host/host.ts';
import type { Bound } from '../http/connections/listening.ts';
import type { Route } from '../http/routes.ts';
import type { Log } from '../log/log.ts';
import { HUB_HEADERS, hubRoutes } from './endpoints.ts';
import { Fleet } from './fleet.ts';
import { Hosts } from './hosts.ts';
import { hubMetrics } from './metrics.ts';
import { createCounters, type HubParts } from './parts.ts';
import { TIMES, type Times } from './times.ts';

export interface HubOptions {
  readonly config: Config;
  readonly host: Host;
  readonly engine: EngineChoice;
  readonly log: Log;
  /** The machine's short and full host name: the web guard lets them through. */
  readonly machineNames: readonly string[];
  /** The resident memory of this process, in bytes. Without it none is returned to the system early. */
  readonly rss?: () => number;
  /** For tests. */
  readonly clock?: Clock;
  readonly times?: Partial<Times>;
}

export class HubService {
  readonly #front: Front;
  readonly #log: Log;
  readonly #hosts: Hosts;
  readonly #fleet: Fleet;
  /** For the test that compares the API document with it. */
  readonly routes: readonly Route[];

  constructor(options: HubOptions) {
    const { config: initial, host, engine, log, machineNames, rss, times } = options;
    const { clock = systemClock(() => host.sinceBootMs()) } = options;
    const config = { current: initial };
    const viewers = { size: 0 };
    const streams: OpenStreams = {
      get size() {
        return viewers.size;
      },
      adopted: 0,
      isEnding: false,
    };
    const front = new Front({
      ...{ base: { config, host, clock, log }, engine, machineNames, rss },
      headersRead: HUB_HEADERS,
      streams: () => streams,
    });
    const { ledger, tally, gate } = front;
    const counters = createCounters();
    const parts: HubParts = {
      ...{ clock, log, ledger, tally, counters, viewers },
      times: { ...TIMES, ...times },
      random: Math.random,
      stallLimitSeconds: () => front.stallLimitSeconds,
    };
    this.#front = front;
    this.#log = log;
    this.#hosts = new Hosts(initial.hub.agents, parts);
    this.#fleet = new Fleet(parts, this.#hosts, initial.stats.stream_interval_seconds * 1000);
    this.routes = hubRoutes({
      ...{ hosts: this.#hosts, fleet: this.#fleet, gate },
      hasRoom: front.roomBeside([viewers]),
      metrics: () =>
        hubMetrics({
          states: this.#hosts.states,
          viewers: viewers.size,
          counters,
          events: this.#events(counters),
        }),
    });
    front.serve(this.routes);
  }

  /** Listens and serves; resolves with the ports in use. Rejects with ListenError, or an Error for a bad certificate. */
  async start(): Promise<readonly Bound[]> {
    const bound = await this.#front.start();
    this.#front.trimSoon();
    const { length } = this.#hosts.all;
    if (length === 0) this.#log.warn('hub.agents is empty: there is no machine to show');
    else this.#log.info(`${length} machines in hub.agents`);
    return bound;
  }

  /** Puts a new configuration into effect while streams go on. Keys that need a restart keep their old values in it. */
  reconfigure(next: Config): void {
    const { gate } = this.#front;
    this.#front.reconfigure(next);
    this.#hosts.reconfigure(next.hub.agents);
    this.#fleet.reconfigure(next.stats.stream_interval_seconds * 1000);
    const passes = gate.passes.bind(gate);
    this.#hosts.judgeAgain(passes);
    this.#fleet.judgeAgain(passes);
  }

  /** Stops within a second, as the service; true: no thread hangs in the kernel, because there is none. */
  async close(): Promise<boolean> {
    this.#front.stop();
    const isDrained = this.#fleet.close() + this.#hosts.close() === 0;
    await this.#front.close(isDrained);
    return true;
  }

  #events({ sent, skipped }: { readonly sent: number; readonly skipped: number }) {
    const open = [this.#hosts.eventCounters, this.#fleet.eventCounters];
    return {
      sent: open.reduce((sum, each) => sum + each.sent, sent),
      skipped: open.reduce((sum, each) => sum + each.skipped, skipped),
    };
  }
}
