/** `hostwire service install` and `remove`: registers hostwire with the system's manager of services. */
import path from 'node:path';
import type { ServiceControl } from '../host/service-control.ts';
import type { Arguments } from './arguments.ts';
import type { Output } from './output.ts';

/** The program and the words that start it, before any option. */
type Program = readonly string[];

/** What the manager is to start: the options given now are given then, and files by absolute paths. */
export function serviceCommand(
  program: Program,
  { configPaths, overrides }: Pick<Arguments, 'configPaths' | 'overrides'>,
): readonly string[] {
  const files = configPaths.flatMap((file) => ['--config', path.resolve(file)]);
  const options = [...overrides.values()].flatMap(({ option, value }) => [option, String(value)]);
  return [...program, '--service', ...files, ...options];
}

/** Throws an Error with a sentence when it can't be done. */
export function manageService(
  control: Pick<ServiceControl, 'install' | 'remove'>,
  words: Pick<Arguments, 'configPaths' | 'overrides' | 'serviceAct'>,
  { program, logFile }: { readonly program: Program; readonly logFile: string },
): Output {
  if (words.serviceAct === 'remove') {
    control.remove();
    return {
      text: 'The service hostwire is removed. Its configuration and its log are still there.\n',
      exitCode: 0,
    };
  }
  const notes = control.install(serviceCommand(program, words));
  const lines = [
    'The service hostwire is registered: it starts with Windows, as LocalService.',
    ...notes.map((note) => `Note: ${note}.`),
    `Its log: ${logFile}`,
    'To start it now: sc start hostwire',
  ];
  return { text: `${lines.join('\n')}\n`, exitCode: 0 };
}
