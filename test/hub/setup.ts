/** A hub inside this process. */

import type { Clock } from '#src/clock.js';
import type { Config } from '#src/config/config.js';
import { LiveConfig } from '#src/config/current.js';
import type { AgentEntry } from '#src/config/rows/hub-rows.js';
import { createLog } from '#src/log/log.js';
import type { Times } from '#src/machine/remote-deps.js';
import type { HostList, HostRow } from '#src/wire/hub.js';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { type ConfigPart, configWith } from '../helpers/fakes/config-parts.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import type { Scope } from '../helpers/scope.ts';
import { loadTestEngine } from '../helpers/service/engine.ts';
import { until } from '../helpers/until.ts';
import type { PlayedMachine } from './played-machine.ts';

/** Short, so that tests do not wait; long where a busy machine must not be taken for a silent agent. */
const QUICK: Partial<Times> = { quietMs: 200, initialDelayMs: 20, maxDelayMs: 300, shrinkMs: 100 };

export type Agents = Readonly<Record<string, Partial<AgentEntry> & Pick<AgentEntry, 'url'>>>;

export interface StartedHub {
  readonly port: number;
  readonly log: readonly string[];
  readonly routes: readonly { readonly path: string; readonly methods: object }[];
  readonly reconfigure: (agents: Agents, config?: ConfigPart) => void;
  /** The row of /api/hosts, as soon as `isWanted`. */
  readonly host: (id: string, isWanted?: (row: HostRow) => boolean) => Promise<HostRow>;
  readonly hosts: (query?: string) => Promise<readonly HostRow[]>;
  readonly open: (target: string, headers?: Readonly<Record<string, string>>) => Promise<EventStream>;
  readonly stop: () => Promise<void>;
}

const entriesOf = (agents: Agents): Readonly<Record<string, AgentEntry>> =>
  Object.fromEntries(Object.entries(agents).map(([id, entry]) => [id, { labels: {}, ...entry }]));

const UNLIMITED: ConfigPart = {
  server: { host: '127.0.0.1', port: 0, max_connections_per_address: 0, max_streams_per_address: 0 },
  stats: { stream_interval_seconds: 1 },
};

export async function startHub(
  t: Scope,
  agents: Agents,
  config: ConfigPart = {},
  times: Partial<Times> = {},
  clock?: Clock,
  /** A machine that a test plays is asked nothing else. */
  firstQuestionMs = 3_600_000,
): Promise<StartedHub> {
  const { HubService } = await import('#src/hub/service.js');
  const log: string[] = [];
  const merged = (entries: Agents, part: ConfigPart): Config => {
    const server = { ...UNLIMITED.server, ...part.server };
    const laid = configWith({ ...UNLIMITED, ...part, server });
    return { ...laid, hub: { ...laid.hub, agents: entriesOf(entries) } };
  };
  const live = new LiveConfig(merged(agents, config));
  const hub = new HubService({
    config: live,
    host: fixtureHost(),
    engine: await loadTestEngine(),
    machineNames: ['testhub'],
    facts: { version: '0.0.0-test', node: 'v0', platform: 'linux' },
    log: createLog((line) => log.push(line), 'debug'),
    times: { ...QUICK, ...times },
    firstQuestionMs,
    ...(clock !== undefined && { clock }),
  });
  const [bound] = await hub.start();
  const port = bound?.port ?? 0;
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await hub.close();
  };
  t.teardown(stop);
  const hosts = async (query = '') => {
    const answer = await ask(port, `/api/hosts${query}`);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
    return (jsonOf(answer) as HostList).hosts; // test/hub/routes.test.ts checks it.
  };
  return {
    port,
    log,
    hosts,
    stop,
    routes: hub.routes,
    reconfigure: (entries, part = config) => live.replace(merged(entries, part)),
    host: async (id, isWanted = () => true) =>
      await until(async () => (await hosts()).find((row) => row.id === id && isWanted(row))),
    async open(target, headers = {}) {
      const stream = await EventStream.openIn(t, port, target, headers);
      return stream;
    },
  };
}

/** The keys of an answer with the types of their values. Of `processes`: null while no recent reading is there. */
export const shapeOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).map(([key, each]) => [key, key === 'processes' ? typeof each : shapeOf(each)])
    : typeof value;

export const isUp = ({ state }: HostRow): boolean => state === 'up';
export const isUnknown = ({ state }: HostRow): boolean => state === 'unknown';
export const isDown = ({ state }: HostRow): boolean => state === 'down';

/** Opens the stream once the hub has found the host up: before that it is refused. */
export async function watch(hub: StartedHub, id: string, query = ''): Promise<EventStream> {
  await hub.host(id, isUp);
  return await hub.open(`/api/hosts/${id}/stream${query}`);
}

/** The stream of the machine `id` that a test plays, whose first sample is sent once it is wanted. */
export async function watchPlayed(
  hub: StartedHub,
  agent: PlayedMachine,
  id = 'a',
  first: Parameters<PlayedMachine['sample']>[0] = { timestamp: 1 },
): Promise<EventStream> {
  await hub.host(id, isUp);
  const opening = hub.open(`/api/hosts/${id}/stream`);
  await until(() => agent.streams === 1);
  agent.sample(first);
  return await opening;
}

/** Takes events until one is wanted. */
export async function eventWith(
  stream: EventStream,
  isWanted: (payload: Readonly<Record<string, unknown>>) => boolean,
): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const payload = payloadOf(await stream.next());
    if (isWanted(payload)) return payload;
  }
}

/** FleetEvent of src/wire/hub.ts, whose type is too deep for a cast. */
export interface SeenFleetEvent {
  readonly all: boolean;
  readonly hosts: Readonly<
    Record<
      string,
      { readonly state: string; readonly since: number; readonly reason?: string; readonly sample?: object }
    >
  >;
  readonly removed: readonly string[];
}

/** Each is parsed once: some have megabytes. */
const parsedEvents = new WeakMap<object, SeenFleetEvent>();

export const fleetEvents = (stream: EventStream): readonly SeenFleetEvent[] => {
  stream.count();
  return stream.events.map((event) => {
    const parsed = parsedEvents.get(event) ?? (payloadOf(event) as unknown as SeenFleetEvent); // The same.
    parsedEvents.set(event, parsed);
    return parsed;
  });
};

export { PlayedMachine } from './played-machine.ts';
