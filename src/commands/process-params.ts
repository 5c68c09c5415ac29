/** The parameters of the process commands. */

import { checkParams, type Params } from '../params.ts';
import { processKillRequest, processLaunchRequest } from '../wire/requests.ts';

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

export interface LaunchParams {
  readonly app: string;
  readonly args: readonly string[];
}

/** Throws `missing_field`, `invalid_value`. */
export function checkKill(params: Params): KillParams {
  const { pid, name, started_at, signal, tree, timeout_ms } = checkParams(processKillRequest, params);
  return { pid, name, startedAt: started_at, signal, isTree: tree, timeoutMs: timeout_ms };
}

/** Throws `missing_field`, `invalid_value`. */
export function checkLaunch(params: Params): LaunchParams {
  return checkParams(processLaunchRequest, params);
}
