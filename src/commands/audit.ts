/** The audit trail: a line in the log per command, with its client and its outcome. */
import type { Caller } from '../access/caller.ts';
import { DEFAULT_KEY } from '../access/key.ts';
import { ServiceError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import type { Scope } from '../scopes.ts';
import type { Report } from './command.ts';

export function auditCommand(log: Pick<Log, 'audit'>, { name, caller, answer }: Report): void {
  log.audit(`${name.replace('.', ': ')} ${outcomeOf(answer)}`, {
    address: caller.address,
    keyed: caller.isKeyed,
    ...keyOf(caller),
    ...caller.via,
    ...subjectOf(answer),
  });
}

/** A line for a command that was refused before it was read, by the scope that its key lacks. */
export const auditForbidden = (log: Pick<Log, 'audit'>, needed: Scope, caller: Caller): void =>
  auditRefusal(log, needed, caller, 'scope_required');

/** A line for a command that was refused before it was read. `name`: of the command, or the scope that it needs. */
export function auditRefusal(log: Pick<Log, 'audit'>, name: string, caller: Caller, reason: string): void {
  const { address, isKeyed: keyed, via } = caller;
  log.audit(`${name.replace('.', ': ')} refused: ${reason}`, { address, keyed, ...keyOf(caller), ...via });
}

/** The name of a key of `auth.keys`; that of a hub which names its client is in `via`. */
const keyOf = ({ key, via }: Caller) =>
  key === undefined || key === DEFAULT_KEY || via !== undefined ? {} : { key };

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
