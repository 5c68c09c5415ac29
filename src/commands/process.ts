/** The process commands: ending processes and starting apps, and their rows in the table of commands. */
import type { Caller } from '../access/caller.ts';
import type { CurrentConfig } from '../config/current.ts';
import { codeOf, messageOf, ServiceError } from '../errors.ts';
import { PLACES } from '../fairness/limits.ts';
import { Places } from '../fairness/places.ts';
import { groupByName, idAt, nameOf, rowOf, startedAt } from '../host/process-columns.ts';
import type { ProcessColumns, ProcessHost } from '../host/processes.ts';
import type { Log } from '../log/log.ts';
import { checkParams } from '../params.ts';
import type { ProcessCapabilities, ProcessFeedback } from '../wire/process.ts';
import { processKillRequest, processLaunchRequest } from '../wire/requests.ts';
import type { Command, Outcome } from './command.ts';
import { type EndResult, endProcesses } from './process-end.ts';
import { isOver, treeOf, whyProtected } from './process-guards.ts';

export interface ProcessControlOptions {
  /** undefined: processes are not supported on this platform. */
  readonly host: ProcessHost | undefined;
  readonly ownPid: number;
  readonly config: CurrentConfig;
  readonly log: Log;
}

export interface KillParams {
  /** Either this or `name`. */
  readonly pid: number | undefined;
  readonly name: string | undefined;
  /** Unix seconds; with `pid` only. */
  readonly startedAt: number | undefined;
  readonly signal: 'term' | 'kill';
  readonly isTree: boolean;
  readonly timeoutMs: number;
}

const NOT_HERE = 'not on this system';

/** Wall clock and boot clock drift apart by less than this between two answers. */
const SAME_START_SECONDS = 1;

export class ProcessControl {
  readonly #options: ProcessControlOptions;
  /** Each waits for up to 60 s on one of the 32 threads of the addon for processes; lists and readings need the others. */
  readonly #ending = new Places(PLACES.endings.max);

  constructor(options: ProcessControlOptions) {
    this.#options = options;
  }

  /** Why processes cannot be controlled here; null where they can. */
  whyUnsupported(): string | null {
    const { host } = this.#options;
    return host === undefined ? NOT_HERE : host.whyNoControl();
  }

  capabilities(): ProcessCapabilities {
    const { features } = this.#options.config.current;
    const reason = this.#options.host === undefined ? NOT_HERE : null;
    const controlReason = this.whyUnsupported();
    return {
      list: { enabled: features.enable_processes, supported: reason === null, reason },
      control: {
        enabled: features.enable_process_control,
        supported: controlReason === null,
        reason: controlReason,
      },
    };
  }

  /**
   * Ends processes and resolves when they have ended. Rejects with ServiceError: `process_not_found`,
   * `process_changed`, `not_supported`, `not_possible_now` (PROTECTED, or too many at a time), `action_failed`
   * (TIMEOUT).
   */
  async kill(params: KillParams, caller: Caller): Promise<Outcome> {
    const host = this.#host();
    if (!this.#ending.hasCapacity(caller)) throw tooMany();
    this.#ending.add(caller);
    try {
      return await this.#kill(host, params);
    } finally {
      this.#ending.remove(caller);
    }
  }

  async #kill(host: ProcessHost, params: KillParams): Promise<Outcome> {
    const columns = await host.read().catch(fail);
    const rows = findTargets(columns, params);
    const [first = 0] = rows;
    const name = nameOf(columns, first);
    const subject = params.pid === undefined ? { name } : { pid: params.pid, name };
    const { ownPid, log } = this.#options;
    const condemned = params.isTree ? treeOf(columns, rows) : rows;
    for (const row of condemned) refuseProtected(columns, row, ownPid);
    const what = `${params.isTree ? 'the tree of ' : ''}${name}${params.pid === undefined ? '' : ` (${params.pid})`}`;
    log.info(`process: ending ${what}: ${params.signal}`);
    const targets = condemned.filter((row) => !isOver(columns, row)).map((row) => idAt(columns, row));
    const result = await endProcesses(host, { ...params, targets, ownPid }).catch(fail);
    judgeEnd(result, what, params, subject);
    const count = result.ended;
    const message = `Ended ${what}${count === 1 ? '' : `: ${count} processes`}.`;
    return feedback({ success: true, action: 'kill', message, final: true, ...subject, count });
  }

  /** Starts an app of the configuration. Rejects with ServiceError: `not_found`, `invalid_value`, `action_failed`. */
  async launch(app: string, args: readonly string[]): Promise<Outcome> {
    const host = this.#host();
    const apps = this.#options.config.current.processes.launch;
    const entry = Object.hasOwn(apps, app) ? apps[app] : undefined;
    if (entry === undefined)
      throw new ServiceError('not_found', 'The configuration has no app of this name.');
    if (args.length > 0 && !entry.allow_args)
      throw new ServiceError('invalid_value', `${app} takes no arguments from clients.`, {
        feedback: 'FORBIDDEN',
      });
    const request = {
      program: entry.command,
      arguments: [...entry.args, ...args],
      environment: Object.entries(entry.env).map(([key, value]) => `${key}=${value}`),
      ...(entry.cwd === undefined ? {} : { folder: entry.cwd }),
    };
    try {
      const pid = await host.launch(request);
      this.#options.log.info(`process: started ${app} (${pid})`);
      return feedback({
        success: true,
        action: 'launch',
        message: `Started ${app}.`,
        final: true,
        pid,
        name: app,
      });
    } catch (error) {
      const reason = messageOf(error);
      this.#options.log.error(`process: ${app} could not be started: ${reason}`);
      throw new ServiceError('action_failed', `${app} could not be started.`, { reason });
    }
  }

  #host(): ProcessHost {
    const reason = this.whyUnsupported();
    if (reason === null && this.#options.host !== undefined) return this.#options.host;
    throw new ServiceError('not_supported', 'Processes cannot be controlled on this platform.', { reason });
  }
}

/** The reply. */
const feedback = (result: ProcessFeedback): Outcome => ({ result: { ...result } });

/** The addon rejects with EAGAIN when it has no thread left to wait on. */
function fail(error: unknown): never {
  if (codeOf(error) === 'EAGAIN') throw tooMany();
  throw error;
}

const tooMany = () =>
  new ServiceError('not_possible_now', 'Too many processes are being ended at the same time.');

/** The rows that `params` name. Throws `process_not_found`, `process_changed`. */
function findTargets(
  columns: ProcessColumns,
  { pid, name, startedAt: given }: KillParams,
): readonly number[] {
  if (pid === undefined) {
    const rows = (groupByName(columns).get(name ?? '') ?? []).filter((row) => !isOver(columns, row));
    if (rows.length > 0) return rows;
    throw new ServiceError('process_not_found', 'No process of this name.');
  }
  const row = rowOf(columns, pid);
  if (row === undefined || isOver(columns, row))
    throw new ServiceError('process_not_found', 'No process with this pid.');
  if (given !== undefined && Math.abs(startedAt(columns, row) - given) > SAME_START_SECONDS)
    throw new ServiceError('process_changed', 'The pid now belongs to another process.');
  return [row];
}

function refuseProtected(columns: ProcessColumns, row: number, ownPid: number): void {
  const reason = whyProtected(columns, row, ownPid);
  if (reason === undefined) return;
  const pid = columns.pids[row] ?? 0;
  const message = `${nameOf(columns, row)} (${pid}) ${reason}; no process was ended.`;
  throw new ServiceError('not_possible_now', message, { feedback: 'PROTECTED', pid });
}

/** Throws when not all of the processes have ended. */
function judgeEnd(
  { signalled, ended, denied }: EndResult,
  what: string,
  { timeoutMs, signal }: KillParams,
  subject: Readonly<Record<string, unknown>>,
): void {
  const details = { ...subject, count: ended };
  if (denied.length > 0)
    throw new ServiceError('not_possible_now', `This service's user is not allowed to end all of ${what}.`, {
      feedback: 'PROTECTED',
      ...details,
    });
  if (signalled.length === 0) throw new ServiceError('process_not_found', `${what} has already ended.`);
  if (ended === signalled.length) return;
  const advice = signal === 'term' ? ' Use the signal kill to force it.' : '';
  const message = `${signalled.length - ended} of ${signalled.length} processes of ${what} are still running.${advice}`;
  const reason = `not ended within ${timeoutMs} ms`;
  throw new ServiceError('action_failed', message, { feedback: 'TIMEOUT', reason, ...details });
}

/** `process.kill`, `process.launch`. */
export function processCommands(control: ProcessControl): readonly Command[] {
  return [
    {
      name: 'process.kill',
      prepare(params, caller) {
        const kill = checkParams(processKillRequest, params);
        const { pid, name, signal, started_at: startedAt, tree: isTree, timeout_ms: timeoutMs } = kill;
        return () => control.kill({ pid, name, signal, startedAt, isTree, timeoutMs }, caller);
      },
    },
    {
      name: 'process.launch',
      prepare(params) {
        const { app, args } = checkParams(processLaunchRequest, params);
        return () => control.launch(app, args);
      },
    },
  ];
}
