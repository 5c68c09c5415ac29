/** Runs a command for a request: in the name of its client, or of the client that asked a hub. */
import type { Commands, Outcome } from '../../commands/command.ts';
import type { Params } from '../../params.ts';
import type { Request } from '../routes.ts';

/** Rejects as Commands.invoke, and with what a hub's deadline forbids. */
export async function invoke(
  commands: Commands,
  name: string,
  params: Params,
  { client, relayed }: Pick<Request, 'client' | 'relayed'>,
): Promise<Outcome> {
  if (relayed === undefined) return await commands.invoke(name, params, client);
  relayed.refuseLate();
  const { address, isKeyed } = client;
  return await commands.invoke(name, params, { address, isKeyed, via: relayed.via });
}
