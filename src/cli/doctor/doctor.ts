/** `hostwire doctor`: what works on this machine, or for a hub, what does not and why, and how to fix it. */

import { describeExposure, exposureWarning, listHubSwitches } from '../../access/exposure.ts';
import { type Config, isOfHub } from '../../config/config.ts';
import { type LoadOptions, loadConfig } from '../../config/load.ts';
import { urlsOf } from '../../config/rows/hub-rows.ts';
import { type EngineName, loadEngine } from '../../engines.ts';
import { messageOf } from '../../errors.ts';
import type { Finding } from '../../host/finding.ts';
import { type NativeMachine, openNativeHost } from '../../host/native.ts';
import { describeContainer, isContainer, rootsOf } from '../../host/roots.ts';
import { identify } from '../../identity.ts';
import { errorsOf } from '../check.ts';
import { jsonText, type Output } from '../output.ts';
import { findPortProblem, isStillLocal } from '../ports.ts';
import { findSwitchedOff, judgeCertificate, judgeMdns, judgeStreams, judgeSwitch } from './judges.ts';
import { missing, partly, printRows, works } from './rows.ts';
import { judgeUnit, readUnitFacts } from './unit.ts';

export interface DoctorFacts {
  /** The version of Node. */
  readonly node: string;
  readonly userName: string;
  /** 0 is root; undefined where users have no numbers, as on Windows. */
  readonly userId: number | undefined;
  /** $XDG_RUNTIME_DIR. */
  readonly runtimeFolder: string | undefined;
}

/** The service cannot start without these. */
const REQUIRED = new Set(['configuration', 'engine', 'addon', 'port', 'tls-port']);

/** The rows for a hub, which shows nothing of its own machine and carries nothing out on it. */
const OF_HUB = new Set(
  'node configuration engine addon c-library streams port tls-port access certificate limits rights'.split(
    ' ',
  ),
);

/** Returns the table, or with `isJson` its rows. Exit code 1 if the service could not start. */
export async function examine(options: LoadOptions, facts: DoctorFacts, isJson = false): Promise<Output> {
  const rows = await collectRows(options, facts);
  const isBroken = rows.some(({ subject, status }) => status === 'missing' && REQUIRED.has(subject));
  const text = isJson ? jsonText(rows) : printRows(rows);
  return { text, exitCode: isBroken ? 1 : 0 };
}

/** Returns the rows as data. The machine's own are written by its readers. */
async function collectRows(options: LoadOptions, facts: DoctorFacts): Promise<readonly Finding[]> {
  const { row, config } = examineConfiguration(options);
  const first = [works('node', facts.node), row];
  if (config === undefined) return first;
  const engine = await examineEngine(config);
  const rows = [
    ...first,
    engine.row,
    ...(await examineMachine(config, engine.name)),
    ...(await examinePorts(config)),
    examineAccess(config),
    ...judgeCertificate(config, Date.now()),
    ...examineMqtt(config),
    ...examineDial(config),
    examineLimits(config),
    ...examineContainer(config),
    ...examineUser(facts),
  ];
  return isOfHub(config)
    ? [...rows.filter(({ subject }) => OF_HUB.has(subject)), examineMachines(config)]
    : rows;
}

/** Loads the engine as the service would. */
async function examineEngine({
  server,
}: Config): Promise<{ readonly row: Finding; readonly name?: EngineName }> {
  try {
    const { name, title, why } = await loadEngine(server.engine);
    return { row: works('engine', `${title}: ${why}`), name };
  } catch (error) {
    return { row: missing('engine', `server.engine is ${server.engine}`, { reason: messageOf(error) }) };
  }
}

/** Errors of `hostwire check` are reasons here too. */
export function examineConfiguration(options: LoadOptions): {
  readonly row: Finding;
  readonly config?: Config;
} {
  const subject = 'configuration';
  try {
    const loaded = loadConfig(options);
    const { config, sources } = loaded;
    const source = sources.files.length === 0 ? 'no file (defaults only)' : sources.files.join(', ');
    const errors = errorsOf(loaded);
    if (errors.length === 0) return { row: works(subject, source), config };
    const remedy = '"hostwire check" shows every setting and its origin';
    return { row: partly(subject, source, { reason: errors.join('; '), remedy }), config };
  } catch (error) {
    return { row: missing(subject, 'not usable', { reason: messageOf(error).replaceAll('\n', '; ') }) };
  }
}

async function examineMachine(config: Config, engine: EngineName | undefined): Promise<readonly Finding[]> {
  let machine: NativeMachine;
  try {
    machine = openNativeHost(rootsOf(config.host));
  } catch (error) {
    return [missing('addon', 'hostwire.node', { reason: messageOf(error) })];
  }
  const off = findSwitchedOff(config);
  const findings = await machine.describe(new Set(off.keys()));
  return [
    works('addon', 'loaded'),
    ...findings.map((finding) =>
      judgeRow(finding, config, { engine, hasWriter: machine.streams !== undefined }),
    ),
    ...off.values(),
  ];
}

/** Combines a row of the machine with the configuration. */
function judgeRow(finding: Finding, config: Config, sender: Parameters<typeof judgeStreams>[1]): Finding {
  if (finding.subject === 'streams') return judgeStreams(finding, sender, config.server);
  if (finding.subject === 'mdns') return judgeMdns(finding, config.server);
  return judgeSwitch(finding, config);
}

async function examinePorts({ server }: Config): Promise<readonly Finding[]> {
  const { host, port, tls } = server;
  const first = (await isStillLocal(server))
    ? partly('port', `port ${port} on ${host}`, {
        reason: 'the running service still listens on 127.0.0.1',
        remedy: 'restart the service',
      })
    : await examinePort('port', 'server.port', host, port);
  if (tls.port === undefined) return [first];
  return [first, await examinePort('tls-port', 'server.tls.port', host, tls.port)];
}

/** Lists what clients may do; only `partly` where the service is open to the network. */
function examineAccess(config: Config): Finding {
  const source = describeExposure(config, isOfHub(config) ? listHubSwitches(config) : undefined);
  if (exposureWarning(config) === undefined) return works('access', source);
  return partly('access', source, {
    reason: 'open to the network without a key',
    remedy: '"hostwire pair" makes a key for a device; set auth.enabled to true to require keys',
  });
}

/** Tries to listen as the service would. */
async function examinePort(subject: string, key: string, host: string, port: number): Promise<Finding> {
  const source = `port ${port} on ${host}`;
  const problem = await findPortProblem(host, port, key);
  if (problem === undefined) return works(subject, `${source} is free`);
  // A running service does not make the port a problem.
  if (problem.isOurs === true) return works(subject, `${source}: ${problem.reason}`);
  return missing(subject, source, problem);
}

/** No row outside a container. */
function examineContainer({ host }: Config): readonly Finding[] {
  if (!isContainer()) return [];
  const problem = describeContainer(host, true);
  if (problem !== undefined) return [partly('container', 'running in a container', problem)];
  return [works('container', `running in a container; the host is at ${host.root ?? host.proc}`)];
}

/** No row without a broker. Whether it answers is in the log of the service. */
function examineMqtt({ mqtt }: Config): readonly Finding[] {
  if (mqtt.url === undefined) return [];
  const user = mqtt.username === undefined ? 'without a user' : `as ${mqtt.username}`;
  return [works('mqtt', `${mqtt.url} ${user}, below ${mqtt.topic}/`)];
}

/** The machines of a hub. Whether they answer is in its log. */
function examineMachines({ hub: { agents, brokers } }: Config): Finding {
  const urls = Object.values(brokers).map(({ url }) => url);
  const behind = urls.length === 0 ? '' : `, and those behind ${urls.join(' and ')}`;
  return works('machines', `${Object.keys(agents).length} in hub.agents${behind}`);
}

/** No row without a hub to dial. Whether it answers is in the log of the service. */
function examineDial({ hub, host }: Config): readonly Finding[] {
  return urlsOf(hub.url).map((url) => {
    const proof = hub.pin === undefined ? 'certificate' : 'pin';
    const how = url.startsWith('wss:') ? `, verified by its ${proof}` : '';
    return works('hub', `dials ${url} as ${identify(host)}${how}`);
  });
}

/** The limits of clients. */
function examineLimits({ server }: Config): Finding {
  const { max_connections_per_address: connections, max_streams_per_address: streams } = server;
  const { max_requests_per_address: requests, max_kept_megabytes: kept } = server;
  const numberOf = (limit: number) => (limit === 0 ? 'unlimited' : limit);
  const source =
    `${kept} MiB of buffers for clients; per address without the key: ${numberOf(connections)} connections, ` +
    `${numberOf(streams)} streams, ${numberOf(requests)} pending requests`;
  return works('limits', source);
}

/** Root, and the units of systemd: no rows where users have no numbers. */
function examineUser({ userName, userId, runtimeFolder }: DoctorFacts): readonly Finding[] {
  if (userId === undefined) return [];
  const rights =
    userId === 0
      ? partly('rights', 'running as root', {
          reason: 'an unprivileged user is safer',
          remedy: 'run it as an unprivileged user; the rows above name what only root can read',
        })
      : works('rights', `running as ${userName}`);
  return [rights, judgeUnit(readUnitFacts(runtimeFolder))];
}
