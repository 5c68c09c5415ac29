/** Answers queries about processes, lists and details, whichever transport they arrive by. */
import { type Clock, wholeSeconds } from '../clock.ts';
import type { CurrentConfig } from '../config/current.ts';
import { codeOf, ServiceError } from '../errors.ts';
import { groupByName, idAt, rowOf } from '../host/process-columns.ts';
import type { ProcessColumns, ProcessFacts, ProcessHost } from '../host/processes.ts';
import type { Params } from '../params.ts';
import { checkParams } from '../params.ts';
import type { ProcessDetailRow, ProcessDetailsPayload, ProcessListPayload } from '../wire/process.ts';
import { processDetailsRequest, processListRequest } from '../wire/requests.ts';
import { SharedAnswers } from './answers.ts';
import {
  buildFlatList,
  buildGroupedList,
  groupOf,
  type ProcessListOptions,
  processRowAt,
  selectRows,
} from './list.ts';
import type { ProcessReadings } from './readings.ts';
import { type ProcessUses, type ProcessWindow, usesOf } from './shares.ts';

export interface ProcessQueriesOptions {
  readonly host: ProcessHost;
  readonly readings: ProcessReadings;
  readonly clock: Clock;
  /** Details have command lines only while `features.enable_process_control` is on. */
  readonly config: CurrentConfig;
}

export interface ListParams extends ProcessListOptions {
  readonly isGrouped: boolean;
}

const MAX_DETAILED = 64;
/** Maximum number of questions at a time: each takes a thread for a moment. */
const AT_A_TIME = 8;

/** Throws `invalid_value`. */
export function checkList(params: Params): ListParams {
  const { grouped, disk, ...options } = checkParams(processListRequest, params);
  return { ...options, isGrouped: grouped, hasDisks: disk || options.sort === 'disk' };
}

/** Returns either a number or a name. Throws `missing_field`, `invalid_value`. */
export function checkDetails(params: Params): number | string {
  const { pid, name = '' } = checkParams(processDetailsRequest, params);
  return pid ?? name;
}

const notListable = () =>
  new ServiceError('not_supported', 'Processes cannot be listed on this platform.', {
    reason: 'not on this system',
  });

/** Throws `not_supported` on a platform without `queries`. */
export function listable(queries: ProcessQueries | undefined): ProcessQueries {
  if (queries === undefined) throw notListable();
  return queries;
}

export class ProcessQueries {
  readonly #options: ProcessQueriesOptions;
  readonly #answers: SharedAnswers<string>;

  constructor(options: ProcessQueriesOptions) {
    this.#options = options;
    this.#answers = new SharedAnswers(options.clock, 'processes');
  }

  /**
   * Returns a ProcessListPayload as JSON. `client`: whose turn it uses. Rejects with ServiceError: `not_supported`,
   * `not_possible_now` (too many queries at the same time).
   */
  async list(params: ListParams, client: string): Promise<string> {
    const window = await this.#options.readings.window(params.hasDisks).catch(explain);
    const { isGrouped, sort, limit, query, hasDisks } = params;
    const question = JSON.stringify(['list', timesOf(window), isGrouped, sort, limit, query, hasDisks]);
    const build = async () =>
      isGrouped ? buildGroupedList(window, params) : await this.#flatList(window, params);
    return await this.#answers.find(question, client, async () => JSON.stringify(await build()));
  }

  async #flatList(window: ProcessWindow, params: ListParams): Promise<ProcessListPayload> {
    const rows = selectRows(window, params);
    const ids = rows.map((row) => idAt(window.after, row));
    const paths = await this.#options.host.readPaths(ids).catch(explain);
    return buildFlatList(window, rows, paths, params.hasDisks);
  }

  /**
   * Returns a ProcessDetailsPayload as JSON: of the process with a number, or of all with a name. Rejects as `list`,
   * and with `process_not_found`.
   */
  async details(which: number | string, client: string): Promise<string> {
    const window = await this.#options.readings.window().catch(explain);
    const withCommands = this.#options.config.current.features.enable_process_control;
    const question = JSON.stringify(['details', timesOf(window), which, withCommands]);
    const build = async () => JSON.stringify(await this.#details(window, which));
    // Not kept: a process may end, and the next answer must reflect that.
    return await this.#answers.find(question, client, build, false);
  }

  async #details(window: ProcessWindow, which: number | string): Promise<ProcessDetailsPayload> {
    const { after } = window;
    const rows = typeof which === 'string' ? groupByName(after).get(which) : rowsOf(after, which);
    if (rows === undefined) throw new ServiceError('process_not_found', 'Unknown process.');
    const uses = usesOf(window, false);
    const processes = await this.#detailRows(window, rows.slice(0, MAX_DETAILED), uses);
    const [first] = processes;
    if (first === undefined) throw new ServiceError('process_not_found', 'The process has already ended.');
    return {
      timestamp: wholeSeconds(after.unixMs),
      ...groupOf(after, first.name, rows, uses),
      processes,
    };
  }

  async #detailRows(
    window: ProcessWindow,
    rows: readonly number[],
    uses: ProcessUses,
  ): Promise<readonly ProcessDetailRow[]> {
    const found: ProcessDetailRow[] = [];
    for (let at = 0; at < rows.length; at += AT_A_TIME) {
      const some = rows.slice(at, at + AT_A_TIME);
      const facts = await Promise.all(some.map((row) => this.#factsAt(window.after, row)));
      some.forEach((row, i) => {
        const fact = facts[i];
        if (fact) found.push(this.#detailRow(window.after, row, uses, fact));
      });
    }
    return found;
  }

  /** Returns null when the process has ended since it was listed. */
  async #factsAt(columns: ProcessColumns, row: number): Promise<ProcessFacts | null> {
    const { pid, startTicks } = idAt(columns, row);
    const facts = await this.#options.host.readDetails(pid).catch(explain);
    return facts?.startTicks === startTicks ? facts : null;
  }

  #detailRow(
    columns: ProcessColumns,
    row: number,
    uses: ProcessUses,
    { path, openFiles, command, folder }: ProcessFacts,
  ): ProcessDetailRow {
    return {
      ...processRowAt(columns, row, uses, path),
      state: STATES[String.fromCharCode(columns.states[row] ?? 0)] ?? 'unknown',
      open_files: openFiles,
      title: null,
      ...(this.#options.config.current.features.enable_process_control ? { command, cwd: folder } : {}),
    };
  }
}

/** Identifies a window in questions: one about another window is another question. */
const timesOf = ({ before, after }: ProcessWindow) => [before?.takenAtNs ?? null, after.takenAtNs];

/** The letters of proc_pid_stat(5). */
const STATES: Readonly<Record<string, ProcessDetailRow['state']>> = {
  R: 'running',
  S: 'sleeping',
  D: 'waiting',
  T: 'stopped',
  t: 'stopped',
  Z: 'ended',
  X: 'ended',
  I: 'idle',
};

function rowsOf(columns: ProcessColumns, pid: number): readonly number[] | undefined {
  const row = rowOf(columns, pid);
  return row === undefined ? undefined : [row];
}

function explain(error: unknown): never {
  const code = codeOf(error);
  if (code === 'EAGAIN') throw new ServiceError('not_possible_now', 'Too many simultaneous process queries.');
  if (code === 'ENOTSUP') throw notListable();
  throw error;
}
