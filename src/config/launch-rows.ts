/** The rows of `processes.launch`. */
import * as v from 'valibot';
import { booleanRow, configRow, namedRow, type Row } from './rows.ts';
import { isAbsolutePath, isArgument, isEnvironment } from './values.ts';

/** An app that clients may start by name (`processes.launch`). */
export interface LaunchEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly allow_args: boolean;
}

const PATH = v.pipe(v.string(), v.check(isAbsolutePath));
const ARGUMENT = v.pipe(v.string(), v.check(isArgument));

/** The keys of one entry of `processes.launch`. */
export const LAUNCH_KEYS = {
  command: configRow(PATH, '', {
    type: 'string',
    expected: 'an absolute path',
    meaning: 'The program to start: an absolute path. Required.',
    defaultInWords: 'required',
  }),
  args: configRow<readonly string[]>(v.array(ARGUMENT), [], {
    type: 'list of strings',
    expected: 'a list of strings',
    meaning: 'Arguments that are always passed.',
  }),
  cwd: configRow<string | undefined>(PATH, undefined, {
    type: 'string',
    expected: 'an absolute path',
    meaning: 'The folder it starts in.',
    defaultInWords: "the service's",
  }),
  env: configRow<Readonly<Record<string, string>>>(
    v.custom<Record<string, string>>(isEnvironment),
    {},
    {
      type: 'map of strings',
      expected: 'a map of variable names to strings',
      meaning: 'Environment variables that are added.',
      isSecret: true,
    },
  ),
  allow_args: booleanRow(false, 'Whether clients may add arguments of their own.'),
};

export const LAUNCH_ROW: Row<Readonly<Record<string, LaunchEntry>>> = namedRow<LaunchEntry>(
  { keys: LAUNCH_KEYS, required: 'command', requires: 'an absolute path' },
  {
    expected: 'a map of app names to {command, args, cwd, env, allow_args}',
    meaning: 'Apps that clients may start by name; see below.',
  },
);
