/** Completions of a command. Pure. */
import { type Command, OPTION_LIST, type OptionRow } from '../words.ts';

/** Without a command it is `run`. */
export const optionsOf = (command: Command): readonly OptionRow[] =>
  OPTION_LIST.filter(({ commands }) => commands === undefined || commands.includes(command));

/** In single quotes, as bash and zsh read it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
