/** `hostwire service install` and `remove`: registers hostwire with Windows' service control manager. */
import path from 'node:path';
import type { WindowsService } from '../host/windows-service.ts';
import type { Arguments } from './arguments.ts';
import type { Output } from './output.ts';

/** The program and the arguments that start it, before any option. */
type Program = readonly string[];

/** Returns the command that the manager will run: with the options given now, and with absolute paths. */
export function serviceCommand(
  program: Program,
  { configPaths, overrides }: Pick<Arguments, 'configPaths' | 'overrides'>,
): readonly string[] {
  const files = configPaths.flatMap((file) => ['--config', path.resolve(file)]);
  const options = [...overrides.values()].flatMap(({ option, value }) => [option, String(value)]);
  return [...program, '--service', ...files, ...options];
}

/** Throws an Error with a sentence when it cannot be done. */
export function manageService(
  control: Pick<WindowsService, 'install' | 'remove'>,
  words: Pick<Arguments, 'configPaths' | 'overrides' | 'serviceAction'>,
  { program, logFile }: { readonly program: Program; readonly logFile: string },
): Output {
  if (words.serviceAction === 'remove') {
    control.remove();
    return {
      text: 'The service hostwire was removed. Its configuration and its log were kept.\n',
      exitCode: 0,
    };
  }
  const notes = control.install(serviceCommand(program, words));
  const lines = [
    'The service hostwire was registered: it starts with Windows and runs as LocalService.',
    ...notes.map((note) => `Note: ${note}.`),
    `Log: ${logFile}`,
    'To start it now: sc start hostwire',
  ];
  return { text: `${lines.join('\n')}\n`, exitCode: 0 };
}
