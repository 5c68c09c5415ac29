/** Process commands on processes that exist only in a reading: nothing here can reach a real one. */
import type { Outcome } from '#src/commands/command.js';
import { ProcessControl, processCommands } from '#src/commands/process.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import type { ServiceError } from '#src/errors.js';
import { rowOf } from '#src/host/process-columns.js';
import type {
  EndSignal,
  LaunchRequest,
  ProcessColumns,
  ProcessHost,
  ProcessId,
} from '#src/host/processes.js';
import { createLog } from '#src/log/log.js';
import { Commands } from '#src/machine/commands.js';
import type { Params } from '#src/params.js';
import { invoke, refusalOf } from '../invoke.ts';
import { FakeConfig } from './config.ts';
import { type ProcessLiteral, processColumns } from './process-columns.ts';
import { SENDER } from './sender.ts';

/** The pid of this service in the readings. */
export const OWN_PID = 100;

export const MACHINE: readonly ProcessLiteral[] = [
  { pid: 1, name: 'systemd', ppid: 0 },
  { pid: 2, name: 'kthreadd', ppid: 0, isKernelThread: true },
  { pid: 3, name: 'kworker/0:0', ppid: 2, isKernelThread: true },
  { pid: 40, name: 'systemd-journald' },
  { pid: 50, name: 'systemd' },
  { pid: 51, name: '(sd-pam)', ppid: 50 },
  { pid: 60, name: 'shell', ppid: 50 },
  { pid: OWN_PID, name: 'node', ppid: 60 },
  { pid: 200, name: 'editor', ppid: 60, start: 5000 },
  { pid: 201, name: 'helper', ppid: 200 },
  { pid: 202, name: 'helper', ppid: 201 },
  { pid: 203, name: 'ended', ppid: 200, state: 'Z' },
  { pid: 300, name: 'node', ppid: 60 },
];

export class FakeProcessHost implements ProcessHost {
  processes = [...MACHINE];
  /** Time of the reading, in seconds since boot. */
  seconds = 90;
  readonly sent: (readonly [number, EndSignal])[] = [];
  readonly launched: LaunchRequest[] = [];
  readonly denied = new Set<number>();
  readonly stubborn = new Set<number>();
  reason: string | null = null;
  failure: Error | undefined;
  /** Called before each reading, so that a test can change the processes. */
  onRead: (count: number) => void = () => undefined;
  #reads = 0;

  get #columns(): ProcessColumns {
    return processColumns(this.seconds, this.processes);
  }

  latest(): ProcessColumns | null {
    return this.#columns;
  }

  ask = () => undefined;
  includeDisks = () => undefined;

  async read(): Promise<ProcessColumns> {
    this.onRead(this.#reads++);
    if (this.failure !== undefined) throw this.failure;
    return this.#columns;
  }

  readDetails = async () => null;
  readPaths = async (processes: readonly ProcessId[]) => processes.map(() => null);
  whyNoControl = () => this.reason;

  signal({ pid }: ProcessId, signal: EndSignal): 'sent' | 'gone' | 'denied' {
    if (rowOf(this.#columns, pid) === undefined) return 'gone';
    if (this.denied.has(pid)) return 'denied';
    this.sent.push([pid, signal]);
    return 'sent';
  }

  waitForEnd = async (processes: readonly ProcessId[]) => processes.map(({ pid }) => !this.stubborn.has(pid));

  async launch(request: LaunchRequest): Promise<number> {
    if (this.failure !== undefined) throw this.failure;
    this.launched.push(request);
    return 4711;
  }
}

export class ProcessRig {
  readonly host = new FakeProcessHost();
  readonly log: string[] = [];
  readonly config = new FakeConfig({ ...DEFAULT_CONFIG.features, enable_process_control: true });
  readonly commands: Commands;

  constructor() {
    const control = new ProcessControl({
      host: this.host,
      ownPid: OWN_PID,
      config: this.config,
      log: createLog((line) => this.log.push(line.trim())),
    });
    this.commands = new Commands(processCommands(control), this.config);
  }

  /** Invokes `process.<action>` and expects it to succeed. */
  async ask(action: string, params: Params): Promise<Outcome['result']> {
    const outcome = await invoke(this.commands, `process.${action}`, params, SENDER);
    return outcome.result;
  }

  /** Asks, and returns the error of the refusal. */
  async refusal(action: string, params: Params): Promise<ServiceError> {
    return await refusalOf(this.ask(action, params));
  }
}
