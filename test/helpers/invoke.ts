import type { Caller } from '#src/access/caller.js';
import type { Outcome } from '#src/commands/command.js';
import { ServiceError } from '#src/errors.js';
import type { Commands } from '#src/machine/commands.js';
import type { Params } from '#src/params.js';

/** Runs a command without a follower. Rejects also where `prepare` throws. */
export const invoke = async (
  commands: Commands,
  name: string,
  params: Params,
  caller: Caller,
): Promise<Outcome> => await commands.prepare(name, params, caller)();

/** Returns the error with which `asked` is refused. */
export async function refusalOf(asked: Promise<unknown>): Promise<ServiceError> {
  const error = await asked.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  if (error instanceof ServiceError) return error;
  throw error;
}
