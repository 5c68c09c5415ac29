/** The parameters of the process commands, checked one by one. */
import { ServiceError } from '../errors.ts';
import type { Params } from './command.ts';

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

const MOST_PID = 2 ** 31 - 1;
const DEFAULT_TIMEOUT_MS = 3000;
const MOST_TIMEOUT_MS = 60_000;
const MOST_NAME_LENGTH = 255;
const MOST_ARGS = 64;
const MOST_ARG_LENGTH = 4096;

const wrong = (sentence: string) => new ServiceError('invalid_value', sentence);

export const isPid = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_PID;

export const isProcessName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MOST_NAME_LENGTH;

/** Throws `missing_field`, `invalid_value`. */
export function checkKill({ pid, name, started_at, signal, tree, timeout_ms }: Params): KillParams {
  if (pid === undefined && name === undefined)
    throw new ServiceError('missing_field', 'pid or name is missing.');
  if (pid !== undefined && name !== undefined) throw wrong('pid and name exclude each other.');
  if (pid !== undefined && !isPid(pid)) throw wrong(`pid must be a whole number from 1 to ${MOST_PID}.`);
  if (name !== undefined && !isProcessName(name))
    throw wrong(`name must be a string of 1 to ${MOST_NAME_LENGTH} characters.`);
  if (started_at !== undefined && (typeof started_at !== 'number' || !Number.isFinite(started_at)))
    throw wrong('started_at must be a number of Unix seconds.');
  if (started_at !== undefined && pid === undefined) throw wrong('started_at goes with pid.');
  if (signal !== undefined && signal !== 'term' && signal !== 'kill')
    throw wrong('signal must be term or kill.');
  if (tree !== undefined && typeof tree !== 'boolean') throw wrong('tree must be true or false.');
  // Written so that NaN fails.
  const isTime = typeof timeout_ms === 'number' && timeout_ms >= 0 && timeout_ms <= MOST_TIMEOUT_MS;
  if (timeout_ms !== undefined && !isTime)
    throw wrong(`timeout_ms must be a number from 0 to ${MOST_TIMEOUT_MS}.`);
  return {
    pid,
    name,
    startedAt: started_at,
    signal: signal ?? 'term',
    isTree: tree ?? false,
    timeoutMs: timeout_ms ?? DEFAULT_TIMEOUT_MS,
  };
}

const isArgument = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MOST_ARG_LENGTH && !value.includes('\0');

/** Throws `missing_field`, `invalid_value`. */
export function checkLaunch({ app, args = [] }: Params): LaunchParams {
  if (app === undefined) throw new ServiceError('missing_field', 'app is missing.');
  if (typeof app !== 'string') throw wrong('app must be a string.');
  if (!Array.isArray(args) || args.length > MOST_ARGS || !args.every(isArgument))
    throw wrong(`args must be at most ${MOST_ARGS} strings of at most ${MOST_ARG_LENGTH} characters.`);
  return { app, args };
}
