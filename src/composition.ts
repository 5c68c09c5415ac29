/** The parts of the service below HTTP: what samples, and what carries out commands. */
import os from 'node:os';
import type { KeyUses } from './access/key-uses.ts';
import type { Clock } from './clock.ts';
import { auditEnd, auditReport } from './commands/audit.ts';
import { chooseBackend } from './commands/host-power.ts';
import { Media, mediaCommands } from './commands/media.ts';
import { Power, powerCommands } from './commands/power.ts';
import { ProcessControl, processCommands } from './commands/process.ts';
import { WakeControl, wakeCommands } from './commands/wake.ts';
import type { LiveConfig } from './config/current.ts';
import { messageOf } from './errors.ts';
import type { Store } from './history/history.ts';
import { Incidents } from './history/incidents.ts';
import { ProcessHistory } from './history/processes.ts';
import { RecordedHistory } from './history/recorded.ts';
import { Watch } from './history/watch.ts';
import type { Host } from './host/host.ts';
import type { Log } from './log/log.ts';
import { Commands } from './machine/commands.ts';
import { ProcessQueries } from './processes/queries.ts';
import { ProcessReadings } from './processes/readings.ts';
import { Sampler } from './stats/sampler.ts';
import type { ServiceFacts } from './stats/system.ts';
import type { HistoryEvent } from './wire/history.ts';

/** Shared by all parts. */
export interface Base {
  readonly config: LiveConfig;
  readonly host: Host;
  readonly clock: Clock;
  readonly log: Log;
}

export function createStats({ config, host, clock, log }: Base) {
  const { processes } = host;
  const readings = processes && new ProcessReadings({ host: processes, clock, config });
  const sampler = new Sampler({
    host,
    clock,
    intervalSeconds: config.current.stats.stream_interval_seconds,
    hostname: config.current.host.name ?? os.hostname(),
    processes: readings,
    log,
  });
  const queries = processes && readings && new ProcessQueries({ host: processes, readings, clock, config });
  return { sampler, readings, queries };
}

/** Records nothing before it is started. */
export function createHistory(
  base: Base,
  { sampler, readings }: Pick<ReturnType<typeof createStats>, 'sampler' | 'readings'>,
  keyUses: KeyUses,
  { startedAt, version }: ServiceFacts,
): { readonly history: RecordedHistory; readonly incidents: Incidents } {
  const { config, clock, log } = base;
  const processes = readings && new ProcessHistory({ readings, clock, config });
  const watch = new Watch({ config, clock, log, running: () => processes?.running });
  const report = (event: HistoryEvent) => history.report(event);
  const incidents = new Incidents({ clock, unixMs: Date.now, report });
  const openStore = () => openHistoryStore(base, startedAt, keyUses, incidents);
  const facts = { unixMs: Date.now, startedAt, version };
  const parts = { processes, watch, incidents, openStore };
  const history = new RecordedHistory({ sampler, config, log, ...parts, ...facts });
  return { history, incidents };
}

/** Loads it only where it is used. Never rejects. */
async function openHistoryStore(
  { config, log, clock }: Base,
  startedAt: number,
  keyUses: KeyUses,
  incidents: Incidents,
): Promise<Store | undefined> {
  const { path } = config.current.history;
  if (path === undefined) return undefined;
  const maxMegabytes = () => config.current.history.max_megabytes;
  try {
    const { openStore } = await import('./history/store/store.ts');
    return openStore({ path, maxMegabytes, log, clock, unixMs: Date.now, startedAt, keyUses, incidents });
  } catch (error) {
    log.error(`history.path: ${messageOf(error)}`);
    return undefined;
  }
}

export function createCommands({ config, host, clock, log }: Base, ownPid: number) {
  const backend = chooseBackend(config.current.power.backend, { host: host.power, clock, log });
  const power = new Power({ backend, clock, unixMs: Date.now, config, log });
  const media = new Media({ host: host.media, clock, config, log });
  const processControl = new ProcessControl({ host: host.processes, ownPid, config, log });
  const wakeControl = new WakeControl({ host, config, log });
  const rows = [
    ...powerCommands(power),
    ...mediaCommands(media),
    ...processCommands(processControl),
    ...wakeCommands(wakeControl),
  ];
  const commands = new Commands(rows, config);
  commands.onReport((report) => auditReport(log, report));
  commands.onStep((command, step) => auditEnd(log, command, step));
  return { power, media, processControl, wakeControl, commands };
}
