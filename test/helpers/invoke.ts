import type { Outcome, Sender } from '#src/commands/command.js';
import type { Commands } from '#src/machine/commands.js';
import type { Params } from '#src/params.js';

/** Runs a command without a follower. Rejects also where `prepare` throws. */
export const invoke = async (
  commands: Commands,
  name: string,
  params: Params,
  sender: Sender,
): Promise<Outcome> => await commands.prepare(name, params, sender)();
