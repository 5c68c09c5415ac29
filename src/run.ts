/** Runs the service in this process: its signals, its log, its start and its end. */

import process from 'node:process';
import { findPortProblem } from './cli/ports.ts';
import { thisMoment } from './clock.ts';
import type { Role } from './config/checks/effects.ts';
import type { Config } from './config/config.ts';
import { LiveConfig } from './config/current.ts';
import { type LoadOptions, loadConfig } from './config/load.ts';
import { Reloader } from './config/reload.ts';
import { SECRET_VARIABLES } from './config/sources/variables.ts';
import { loadEngine } from './engines.ts';
import { readMachineNames } from './host/names.ts';
import { openNativeHost, openNativeProcess } from './host/native.ts';
import { describeContainer, isContainer, rootsOf, withName } from './host/roots.ts';
import type { Bound } from './http/connections/listening.ts';
import { ListenError } from './http/engine.ts';
import type { HubOptions } from './hub/service.ts';
import type { Log } from './log/log.ts';
import { openServiceLog } from './log/service-log.ts';
import type { Service, ServiceOptions } from './service.ts';
import { inUrl } from './url-host.ts';

export interface RunOptions {
  readonly options: LoadOptions;
  readonly version: string;
  /** Takes the lines of the log of a service without a console. */
  readonly write: ((line: string) => void) | undefined;
  readonly role: Role;
}

/** The part of a role that this file uses. */
type RoleService = Pick<Service, 'start' | 'close'>;

/** Signals and warnings that would end the service, or open it to others, or write beside its log. */
function settleProcess(log: Log): void {
  const native = openNativeProcess();
  native.ignoreStraySignals();
  // npm's shell does not pass signals on.
  if (process.env['npm_lifecycle_event'] === 'start') native.endWithParent();
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => log.warn(`${name}: ${message}`));
}

/** Each role is loaded alone. */
const LOADERS: Readonly<
  Record<RunOptions['role'], () => Promise<(options: ServiceOptions & HubOptions) => RoleService>>
> = {
  async service() {
    const { Service } = await import('./service.ts');
    return (options) => new Service(options);
  },
  async hub() {
    const { HubService } = await import('./hub/service.ts');
    return (options) => new HubService(options);
  },
};

/** Resolves when it serves; a signal ends it. Rejects with an Error for people. */
export async function run({ options: given, version, write, role }: RunOptions): Promise<void> {
  const options = { ...given, role };
  let onHangUp = () => {};
  // From now on: a terminal that closes during the start must not end the service.
  process.on('SIGHUP', () => onHangUp());
  // Apps that the service launches get its environment.
  for (const name of SECRET_VARIABLES) delete process.env[name];
  const loaded = loadConfig(options);
  const { config } = loaded;
  const serviceLog = openServiceLog({
    config: config.log,
    native: openNativeProcess(),
    variables: process.env,
    write,
  });
  const { log } = serviceLog;
  process.once('exit', () => serviceLog.flush());
  settleProcess(log);
  log.info(`version ${version}, process ${process.pid}, Node ${process.version}`);
  log.info(describeFiles(loaded.sources.files));
  for (const { level, text } of loaded.notices) log[level](text);
  const container = describeContainer(config.host, isContainer());
  // A hub shows nothing of this machine.
  if (container !== undefined && role === 'service')
    log.warn(`running in a container: ${container.reason}; ${container.remedy}`);
  if (process.getuid?.() === 0)
    log.warn('running as root, which is not needed: an unprivileged user is safer and sees the same stats');
  const [create, engine] = await Promise.all([LOADERS[role](), loadEngine(config.server.engine)]);
  const live = new LiveConfig(config);
  const host = withName(openNativeHost(rootsOf(config.host)), config.host.name);
  const startedAt = thisMoment(() => host.sinceBootMs());
  const service = create({
    config: live,
    host,
    engine,
    log,
    machineNames: [...readMachineNames(), ...(config.host.name === undefined ? [] : [config.host.name])],
    rss: process.memoryUsage.rss,
    facts: {
      version,
      pid: process.pid,
      get startedAt() {
        return startedAt();
      },
      node: process.version,
      platform: process.platform,
    },
  });
  const reloader = new Reloader({
    load: options,
    loaded,
    config: live,
    report: ({ level, text }) => log[level](text),
  });
  const bound = await service.start().catch(async (error: unknown) => {
    await service.close();
    return await explainListening(error, config.server);
  });
  reloader.start();
  onHangUp = () => {
    serviceLog.reopen();
    reloader.reload();
  };
  const stop = (signal: NodeJS.Signals) => {
    log.notice(`stopping: ${signal}`);
    reloader.close();
    void service.close().then((isEnded) => {
      log.notice('stopped');
      serviceLog.flush();
      openNativeProcess().releaseClosedTerminal();
      if (!isEnded) openNativeProcess().exitNow(0);
      process.exit(0);
    });
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // Last: the reader of this line may send a signal immediately.
  log.notice(`listening on ${bound.map(describeBound).join(' and ')}`);
}

/** Its URL, and for a wildcard the URL to open. */
function describeBound({ scheme, host, port }: Bound): string {
  const local = host === '::' || host === '0.0.0.0' ? ` (open ${scheme}://localhost:${port})` : '';
  return `${scheme}://${inUrl(host)}:${port}${local}`;
}

/** Throws `error`, with the reason where a port cannot be opened. */
async function explainListening(error: unknown, { tls }: Config['server']): Promise<never> {
  if (!(error instanceof ListenError)) throw error;
  const { host, port } = error;
  const key = port === tls.port ? 'server.tls.port' : 'server.port';
  const problem = await findPortProblem(host, port, key);
  if (problem === undefined) throw error;
  throw new Error(`cannot listen on port ${port} of ${host}: ${problem.reason}; ${problem.remedy}`);
}

const describeFiles = (files: readonly string[]) =>
  files.length === 0 ? 'configuration: no file (defaults only)' : `configuration: ${files.join(', ')}`;
