/** Waking other machines over HTTP. */
import type { Commands } from '../../commands/command.ts';
import type { Runs } from '../routes.ts';
import { runJsonCommand } from './json-command.ts';

export function wakeRuns({ commands }: { readonly commands: Commands }): Runs<'wake'> {
  return { wake: (request) => runJsonCommand(commands, 'wake.wake', request) };
}
