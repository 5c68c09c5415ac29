/** The audit trail: a line in the log per command, with its client and its outcome. */
import type { Caller } from '../access/caller.ts';
import { ServiceError } from '../errors.ts';
import type { LogFields } from '../log/format.ts';
import type { Log } from '../log/log.ts';
import type { Report, Step } from './command.ts';

interface Audited {
  /** The name of the command, or the scope that it needs. */
  readonly name: string;
  readonly caller: Caller;
  /** The machine that it is for; absent: this one. */
  readonly host?: string;
}

/** Writes a line on one command. */
export function audit(
  log: Pick<Log, 'audit'>,
  { name, caller, host }: Audited,
  outcome: string,
  more: LogFields = {},
): void {
  const { address, isKeyed: keyed, key, via } = caller;
  // With `via` the name of the hub's key is in it, beside that of its client.
  const who = { host, address, keyed, ...(via ?? { key }) };
  log.audit(`${name.replace('.', ': ')} ${outcome}`, { ...who, ...more });
}

/** Writes a line on a command that was accepted, refused or carried out. */
export function auditReport(log: Pick<Log, 'audit'>, { answer, ...report }: Report): void {
  audit(log, report, outcomeOf(answer), subjectOf(answer));
}

/** Writes a line on a command that was refused before it was read. */
export const auditRefusal = (log: Pick<Log, 'audit'>, audited: Audited, reason: string): void =>
  audit(log, audited, `refused: ${reason}`);

const ENDS: ReadonlySet<Step['stage']> = new Set(['done', 'failed', 'cancelled', 'unknown']);

/** Writes a line where `step` is the end of a command that was accepted. */
export function auditEnd(log: Pick<Log, 'audit'>, audited: Audited, { stage, message }: Step): void {
  if (ENDS.has(stage)) audit(log, audited, stage, stage === 'failed' ? { reason: message } : {});
}

function outcomeOf(answer: Report['answer']): string {
  if (answer instanceof ServiceError) return `refused: ${answer.code}`;
  if (answer.failure !== undefined) return `failed: ${answer.failure.code}`;
  return answer.isFollowed ? 'accepted' : 'done';
}

/** Returns the subject of an action, and why it failed. */
function subjectOf(answer: Report['answer']) {
  const failure = answer instanceof ServiceError ? answer : answer.failure;
  const { pid, name } = answer instanceof ServiceError ? { ...answer.details } : answer.result;
  const { reason } = { ...failure?.details };
  return {
    ...(typeof pid === 'number' ? { pid } : {}),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
  };
}
