/** The rows of `processes.launch`. */
import { isArgument, isEnvironment } from './predicates.ts';
import { ABSOLUTE_PATH, booleanRow, type EntryOf, namedRow, optional, row, texts } from './row.ts';

/** The keys of one entry of `processes.launch`. */
export const LAUNCH_KEYS = {
  command: row(ABSOLUTE_PATH, '', 'The program to start: an absolute path. Required.', {
    defaultInWords: 'required',
  }),
  args: row<readonly string[]>(
    texts('a list of strings', isArgument),
    [],
    'Arguments that are always passed.',
  ),
  cwd: optional(ABSOLUTE_PATH, 'The folder it starts in.', { defaultInWords: "the service's" }),
  env: row<Readonly<Record<string, string>>>(
    { accepts: isEnvironment, type: 'map of strings', expected: 'a map of variable names to strings' },
    {},
    'Environment variables that are added.',
    { isSecret: true },
  ),
  allow_args: booleanRow(false, 'Whether clients may add arguments of their own.'),
};

/** An app that clients may start by name (`processes.launch`). */
export type LaunchEntry = EntryOf<typeof LAUNCH_KEYS>;

export const LAUNCH_ROW = namedRow(
  { keys: LAUNCH_KEYS, required: 'command', requires: 'an absolute path' },
  'a map of app names to {command, args, cwd, env, allow_args}',
  'Apps that clients may start by name; see below.',
);
