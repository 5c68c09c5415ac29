/** `hostwire service install` and `remove`: registers hostwire with Windows' service control manager. */
import { constants, copyFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../errors.ts';
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

export interface ServiceFiles {
  readonly program: Program;
  readonly logFile: string;
  /** The folder that the service searches last; undefined where Windows reports none. */
  readonly folder: string | undefined;
  /** The configuration that comes with the program. */
  readonly shipped: string;
}

/** Copies the shipped configuration to the service's folder, if that has none; returns the path of the copy. */
export function provideConfiguration(folder: string, shipped: string): string | undefined {
  const names = ['config.json', 'config.yaml', 'config.yml'];
  if (names.some((name) => existsSync(path.join(folder, name)))) return undefined;
  const file = path.join(folder, 'config.yaml');
  copyFileSync(shipped, file, constants.COPYFILE_EXCL);
  return file;
}

/** Throws an Error with a sentence when it cannot be done. */
export function manageService(
  control: Pick<WindowsService, 'install' | 'remove'>,
  words: Pick<Arguments, 'configPaths' | 'overrides' | 'serviceAction'>,
  { program, logFile, folder, shipped }: ServiceFiles,
): Output {
  if (words.serviceAction === 'remove') {
    control.remove();
    return {
      text: 'The service hostwire was removed. Its configuration and its log were kept.\n',
      exitCode: 0,
    };
  }
  const notes = control.install(serviceCommand(program, words));
  let written: string | undefined;
  try {
    if (folder !== undefined && words.configPaths.length === 0)
      written = provideConfiguration(folder, shipped);
  } catch (error) {
    // Without a configuration it would be open to the network from the next start of Windows on.
    control.remove();
    throw new Error(
      `the service was not registered: its configuration cannot be written: ${messageOf(error)}`,
    );
  }
  const lines = [
    'The service hostwire was registered: it starts with Windows and runs as LocalService.',
    ...(written === undefined
      ? []
      : [
          `Configuration: ${written}; it admits only this machine until "hostwire pair" makes a key for another device`,
        ]),
    ...notes.map((note) => `Note: ${note}.`),
    `Log: ${logFile}`,
    'To start it now: sc start hostwire',
  ];
  return { text: `${lines.join('\n')}\n`, exitCode: 0 };
}
