/** `hostwire doctor`: what works on this machine, what does not, why, and what it would take. */
import net from 'node:net';
import { type LoadOptions, loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { ALL_SECTIONS, type Host } from '../../host/host.ts';
import { type NativeMachine, openNativeHost } from '../../host/native.ts';
import type { Output } from '../output.ts';
import { findGpus, judgeGpus } from './gpu.ts';
import { examineMedia } from './media.ts';
import { examinePower } from './power.ts';
import { examineProcesses } from './processes.ts';
import { printRows, type Row } from './rows.ts';
import { judgeReading } from './sections.ts';
import { judgeUnit, readUnitFacts } from './unit.ts';
import { inWindowsWords, judgeWindowsReading } from './windows.ts';

export interface DoctorFacts {
  /** Why this Node can't run the service; undefined when it can. */
  readonly runtime: string | undefined;
  readonly user: string;
  readonly isRoot: boolean;
  /** $XDG_RUNTIME_DIR. */
  readonly runtimeFolder: string | undefined;
}

/** Long enough for every prober to have answered that is going to. */
const PROBE_MS = 400;

/** The table; exit code 1 when the service could not start or could tell nothing. */
export async function examine(options: LoadOptions, facts: DoctorFacts): Promise<Output> {
  const rows: Row[] = [
    facts.runtime === undefined
      ? { section: 'node', state: 'ok', source: 'supported' }
      : { section: 'node', state: 'missing', source: 'not supported', reason: facts.runtime },
  ];
  const config = examineConfiguration(options, rows);
  const isWindows = options.surroundings.platform === 'win32';
  if (config !== undefined) {
    const found = await examineHost(config, isWindows);
    rows.push(...(isWindows ? found.map(inWindowsWords) : found), await examinePort(config));
    if (!isWindows) rows.push(examineRights(facts), judgeUnit(readUnitFacts(facts.runtimeFolder)));
  }
  const isBroken = rows.some(({ section, state }) => state === 'missing' && MUST_WORK.has(section));
  return { text: printRows(rows), exitCode: isBroken ? 1 : 0 };
}

const MUST_WORK = new Set(['node', 'configuration', 'addon', 'port']);

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function examineConfiguration(options: LoadOptions, rows: Row[]): Config | undefined {
  const section = 'configuration';
  try {
    const { config, sources } = loadConfig(options);
    const source = sources.files.length === 0 ? 'no file: the defaults' : sources.files.join(', ');
    rows.push({ section, state: 'ok', source });
    return config;
  } catch (error) {
    const reason = reasonOf(error).replaceAll('\n', '; ');
    rows.push({ section, state: 'missing', source: 'not usable', reason });
    return undefined;
  }
}

async function examineHost(config: Config, isWindows: boolean): Promise<readonly Row[]> {
  const { proc, sys } = config.host;
  let host: NativeMachine;
  try {
    host = openNativeHost({ proc, sys });
  } catch (error) {
    return [{ section: 'addon', state: 'missing', source: 'hostwire.node', reason: reasonOf(error) }];
  }
  host.readCounters(ALL_SECTIONS, true, 0);
  await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
  const counters = host.readCounters(ALL_SECTIONS, true, PROBE_MS);
  return [
    { section: 'addon', state: 'ok', source: 'loaded' },
    examinePeers(host, isWindows),
    ...(isWindows ? judgeWindowsReading(counters) : judgeReading({ counters, proc, sys })),
    judgeGpus(await findGpus(host), isWindows ? 'DXGI and NVML' : `${sys}/bus/pci/devices`),
    ...(await examineProcesses(host.processes, config)),
    ...(await examinePower(host.power, config)),
    ...(await examineMedia(host.media, config.features.enable_media, isWindows)),
  ];
}

function examinePeers(host: Host, isWindows: boolean): Row {
  const section = 'peers';
  if (isWindows)
    return {
      section,
      state: 'partly',
      source: 'cut after 30 s in which they take nothing',
      reason: 'Windows tells only administrators what peers acknowledge',
    };
  if (host.canReadPendingPeers()) return { section, state: 'ok', source: 'judged by what they acknowledge' };
  return {
    section,
    state: 'partly',
    source: "the kernel's own timer",
    reason: 'it does not tell what peers acknowledge: one that stalls again and again may be cut early',
  };
}

/** Tries to listen as the service would, for a moment. */
function examinePort(config: Config): Promise<Row> {
  const { host, port } = config.server;
  const source = `port ${port} on ${host}`;
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error) =>
      resolve({
        section: 'port',
        state: 'missing',
        source,
        reason: `it can't be listened on: ${error.message}`,
        remedy: 'end what listens there, or set server.port',
      }),
    );
    server.listen({ host, port, exclusive: true }, () =>
      server.close(() => resolve({ section: 'port', state: 'ok', source: `${source} is free` })),
    );
  });
}

function examineRights({ user, isRoot }: DoctorFacts): Row {
  return isRoot
    ? {
        section: 'rights',
        state: 'partly',
        source: 'running as root',
        reason: 'an ordinary user is safer',
        remedy: 'run it as an ordinary user; what only root can read is named above',
      }
    : { section: 'rights', state: 'ok', source: `running as ${user}` };
}
