/** The parts of the service below HTTP: what samples, and what carries out commands. */
import os from 'node:os';
import type { Clock } from './clock.ts';
import { auditCommands } from './commands/audit.ts';
import { chooseBackend } from './commands/choose-backend.ts';
import { Commands } from './commands/command.ts';
import { Media, mediaCommands } from './commands/media.ts';
import { Power, powerCommands } from './commands/power.ts';
import { ProcessControl, processCommands } from './commands/process.ts';
import { WakeControl, wakeCommands } from './commands/wake.ts';
import type { Config } from './config/schema.ts';
import type { Host } from './host/host.ts';
import type { Log } from './log/log.ts';
import { ProcessQueries } from './processes/queries.ts';
import { ProcessReadings } from './processes/readings.ts';
import { Sampler } from './stats/sampler.ts';

/** Shared by all parts. */
export interface Base {
  readonly config: { current: Config };
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

export function createCommands({ config, host, clock, log }: Base, ownPid: number) {
  const wanted = config.current.power.backend;
  const backend = chooseBackend({ wanted, host: host.power, clock, log });
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
  auditCommands(commands, log);
  return { power, media, processControl, wakeControl, commands };
}
