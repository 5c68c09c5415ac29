/** Two hubs with a thousand simulated agents, two real ones and five thousand viewers each, reached in one of three ways. */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { cpuNsOf, machineBusyNs } from '../../../bench/cpu.ts';
import { type Broker, mqttPart } from '../../exporters/mqtt/broker.ts';
import { EventStream } from '../../helpers/clients/event-stream.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import {
  type ConfigPart,
  configText,
  type ServiceProcess,
  startService,
} from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { brokerPart } from '../broker/setup.ts';
import { type BrokerName, HUBS, loginOf, startFleetBroker } from './brokers.ts';
import { type Crowd, startCrowd } from './crowds.ts';
import { type MeasuredHub, startMeasured } from './measured.ts';

export type Way = 'connected' | BrokerName;

export const HOSTS = 1000;
/** Viewers of each hub. */
export const VIEWERS = 5000;
export const REAL = ['real1', 'real2'] as const;
const IDS = Array.from({ length: HOSTS }, (_, i) => `h${i}`);

export interface Parts {
  readonly broker: Broker | undefined;
  readonly hubs: readonly MeasuredHub[];
  readonly agents: Crowd;
  readonly real: readonly ServiceProcess[];
}

/** Without the machines: what a hub keeps of them is the difference. */
async function startHubs(t: Test, broker: Broker | undefined): Promise<readonly MeasuredHub[]> {
  const configOf = (name: string): ConfigPart =>
    broker === undefined ? {} : brokerPart(broker.url, {}, loginOf(broker, name));
  return await Promise.all(HUBS.map((name) => startMeasured(t, configOf(name))));
}

async function startReal(t: Test, broker: Broker | undefined): Promise<readonly ServiceProcess[]> {
  const configOf = (id: string): ConfigPart => ({
    host: { id },
    stats: { stream_interval_seconds: 1 },
    ...(broker && { mqtt: mqttPart(broker.url, { publish: 'hub', ...loginOf(broker, id) }) }),
  });
  const services = await Promise.all(REAL.map((id) => startService({ config: configOf(id) })));
  t.teardown(() => Promise.all(services.map((service) => service.stop())));
  return services;
}

/** A hub that connects to its machines gets all of them with a reload. */
function showConnected(hub: MeasuredHub, port: number, real: readonly ServiceProcess[]): void {
  const simulated = IDS.map((id, i) => [
    id,
    { url: `http://127.1.${i >> 8}.${i & 255}:${port}`, labels: {} },
  ]);
  const services = REAL.map((id, i) => [id, { url: `http://127.0.0.1:${real[i]?.port}`, labels: {} }]);
  const agents = Object.fromEntries([...simulated, ...services]);
  writeFileSync(hub.configFile, configText({ hub: { agents } }));
  process.kill(hub.pid, 'SIGHUP');
}

/** Hubs first; `onBare` is called before there are machines. */
export async function startParts(
  t: Test,
  way: Way,
  onBare: (hubs: readonly MeasuredHub[]) => Promise<void>,
): Promise<Parts> {
  const broker = way === 'connected' ? undefined : await startFleetBroker(t, way, [...IDS, ...REAL]);
  const hubs = await startHubs(t, broker);
  await onBare(hubs);
  const port = await findFreePort();
  const agents =
    broker === undefined ? startCrowd(t, 'agents', port) : startCrowd(t, 'mqtt-agents', broker.port, HOSTS);
  await agents.ready;
  const real = await startReal(t, broker);
  if (broker === undefined) for (const hub of hubs) showConnected(hub, port, real);
  for (const hub of hubs)
    await until(async () => {
      await sleep(500);
      return (await hub.metric('hosts{state="up"}')) === HOSTS + REAL.length ? true : undefined;
    });
  return { broker, hubs, agents, real };
}

export async function startViewers(t: Test, hubs: readonly MeasuredHub[]): Promise<readonly Crowd[]> {
  const crowds = hubs.map((hub) => startCrowd(t, 'viewers', hub.port, VIEWERS, HOSTS));
  await Promise.all(crowds.map(({ ready }) => ready));
  return crowds;
}

/** Viewers of the real agents: one at each agent itself, and one of each agent at each hub. */
export async function watchReal(t: Test, { hubs, real }: Parts) {
  return await Promise.all(
    real.map(async ({ port }, i) => ({
      own: await EventStream.openIn(t, port, '/api/stream'),
      seen: await Promise.all(
        hubs.map((hub) => EventStream.openIn(t, hub.port, `/api/hosts/${REAL[i]}/stream`)),
      ),
    })),
  );
}

export interface Reading {
  /** Nanoseconds of CPU time. */
  readonly cpu: {
    readonly agents: number;
    readonly real: number;
    readonly broker: number;
    readonly hubs: readonly number[];
    readonly viewers: number;
    readonly machine: number;
  };
  /** Samples that the simulated agents have sent. */
  readonly samples: number;
  /** Events of each hub. */
  readonly events: readonly number[];
  readonly passed: readonly number[];
  readonly skipped: readonly number[];
}

const total = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + cpuNsOf(pid), 0);

export async function read(parts: Parts, viewers: readonly Crowd[]): Promise<Reading> {
  const { hubs, agents, real, broker } = parts;
  const metricOf = async (name: string) => await Promise.all(hubs.map((hub) => hub.metric(name)));
  const { samples } = (await agents.ask('report')) as { readonly samples: number }; // As it prints it.
  const [events, passed, skipped] = await Promise.all(
    ['viewer_events_total', 'samples_total', 'viewer_events_skipped_total'].map(metricOf),
  );
  return {
    cpu: {
      agents: cpuNsOf(agents.pid),
      real: total(real.map(({ pid }) => pid)),
      broker: broker === undefined ? 0 : cpuNsOf(broker.pid),
      hubs: hubs.map(({ pid }) => cpuNsOf(pid)),
      viewers: total(viewers.map(({ pid }) => pid)),
      machine: machineBusyNs(),
    },
    samples,
    events: events ?? [],
    passed: passed ?? [],
    skipped: skipped ?? [],
  };
}
