/** `hostwire doctor`: what works on this machine, what does not, and why. */
import net from 'node:net';
import { type LoadOptions, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { ALL_SECTIONS, type Counters } from '../host/host.ts';
import { type NativeMachine, openNativeHost } from '../host/native.ts';
import { findGpus, judgeGpus } from './doctor-gpu.ts';
import type { Output } from './output.ts';

export interface DoctorFacts {
  /** Why this Node can't run the service; undefined when it can. */
  readonly runtime: string | undefined;
  readonly user: string;
  readonly isRoot: boolean;
}

export interface Finding {
  readonly subject: string;
  /** 'part': it serves, with something missing. */
  readonly state: 'ok' | 'part' | 'no';
  readonly text: string;
}

/** Long enough for every prober to have answered that is going to. */
const PROBE_MS = 400;

/** The findings, a line each; exit code 1 when the service could not start or could tell nothing. */
export async function examine(options: LoadOptions, facts: DoctorFacts): Promise<Output> {
  const findings: Finding[] = [
    facts.runtime === undefined
      ? { subject: 'node', state: 'ok', text: 'supported' }
      : { subject: 'node', state: 'no', text: facts.runtime },
  ];
  const config = examineConfiguration(options, findings);
  if (config !== undefined) {
    await examineHost(config, findings);
    findings.push(await examinePort(config), examinePower(config), examineRights(facts));
  }
  findings.push({ subject: 'media', state: 'no', text: 'not in this version yet' });
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  const lines = findings.map(
    ({ subject, state, text }) => `${subject.padEnd(width)}  ${state.padEnd(4)}  ${text}\n`,
  );
  const isBroken = findings.some(({ subject, state }) => state === 'no' && MUST_WORK.has(subject));
  return { text: lines.join(''), exitCode: isBroken ? 1 : 0 };
}

const MUST_WORK = new Set(['node', 'configuration', 'addon', 'port']);

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function examineConfiguration(options: LoadOptions, findings: Finding[]): Config | undefined {
  try {
    const { config, sources } = loadConfig(options);
    const text = sources.files.length === 0 ? 'no file: the defaults' : sources.files.join(', ');
    findings.push({ subject: 'configuration', state: 'ok', text });
    return config;
  } catch (error) {
    findings.push({ subject: 'configuration', state: 'no', text: reasonOf(error).replaceAll('\n', '; ') });
    return undefined;
  }
}

async function examineHost(config: Config, findings: Finding[]): Promise<void> {
  let host: NativeMachine;
  try {
    host = openNativeHost({ proc: config.host.proc, sys: config.host.sys });
  } catch (error) {
    findings.push({ subject: 'addon', state: 'no', text: reasonOf(error) });
    return;
  }
  findings.push({ subject: 'addon', state: 'ok', text: 'loaded' });
  host.readCounters(ALL_SECTIONS, true, 0);
  await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
  findings.push(...judgeCounters(host.readCounters(ALL_SECTIONS, true, PROBE_MS), config));
  findings.push(judgeGpus(await findGpus(host), config.host.sys));
}

/** What a reading with detail says of each section. Pure. */
export function judgeCounters(counters: Counters, config: Pick<Config, 'host'>): readonly Finding[] {
  const { cpu, memory, disks, interfaces, failures } = counters;
  const unreadable = (subject: string, key: string): Finding => ({
    subject,
    state: 'no',
    text: failures?.[key] ?? 'not readable on this platform',
  });
  const { proc, sys } = config.host;
  const stale = (disks ?? []).filter((disk) => disk.isStale).map((disk) => disk.mountPoint);
  return [
    cpu
      ? { subject: 'cpu', state: 'ok', text: `${cpu.cores?.length ?? 0} processors from ${proc}/stat` }
      : unreadable('cpu', 'cpu'),
    cpu?.temperatureCelsius == null
      ? {
          subject: 'temperature',
          state: 'part',
          text: `no sensor of the processor in ${sys}/class/hwmon or ${sys}/class/thermal (usual in virtual machines; else load its driver: coretemp, k10temp)`,
        }
      : { subject: 'temperature', state: 'ok', text: `${cpu.temperatureCelsius} °C` },
    cpu?.speedHz == null
      ? { subject: 'speed', state: 'part', text: `neither cpufreq in ${sys} nor MHz in ${proc}/cpuinfo` }
      : { subject: 'speed', state: 'ok', text: `${Math.round(cpu.speedHz / 1e6)} MHz` },
    memory
      ? {
          subject: 'memory',
          state: 'ok',
          text: `${Math.round(memory.totalBytes / 2 ** 20)} MiB from ${proc}/meminfo`,
        }
      : unreadable('memory', 'memory'),
    memory && memory.pressure == null
      ? {
          subject: 'pressure',
          state: 'part',
          text: `no ${proc}/pressure (kernel before 4.20, or booted without psi=1)`,
        }
      : { subject: 'pressure', state: 'ok', text: `from ${proc}/pressure` },
    !disks
      ? unreadable('disks', 'disks')
      : stale.length > 0
        ? {
            subject: 'disks',
            state: 'part',
            text: `${disks.length} mounts; no answer from ${stale.join(', ')}`,
          }
        : { subject: 'disks', state: 'ok', text: `${disks.length} mounts` },
    interfaces
      ? { subject: 'network', state: 'ok', text: `${interfaces.length} interfaces` }
      : unreadable('network', 'interfaces'),
  ];
}

/** Tries to listen as the service would, for a moment. */
function examinePort(config: Config): Promise<Finding> {
  const { host, port } = config.server;
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error) =>
      resolve({
        subject: 'port',
        state: 'no',
        text: `port ${port} on ${host} can't be listened on: ${error.message}`,
      }),
    );
    server.listen({ host, port, exclusive: true }, () =>
      server.close(() => resolve({ subject: 'port', state: 'ok', text: `port ${port} on ${host} is free` })),
    );
  });
}

function examinePower(config: Config): Finding {
  return config.power.backend === 'record'
    ? {
        subject: 'power',
        state: 'part',
        text: 'power.backend is record: nothing is done, what would be is listed',
      }
    : { subject: 'power', state: 'no', text: 'no power manager is spoken to in this version' };
}

function examineRights({ user, isRoot }: DoctorFacts): Finding {
  return isRoot
    ? {
        subject: 'rights',
        state: 'part',
        text: 'running as root: nothing here needs it; use an ordinary user',
      }
    : { subject: 'rights', state: 'ok', text: `running as ${user}` };
}
