/** The completion for fish. Pure. */
import { COMMAND_ROWS, COMMANDS, type Command, OPTION_LIST, type OptionRow } from '../words.ts';

/** In single quotes, as fish reads it. */
const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;

const seen = (commands: readonly Command[]) => `__fish_seen_subcommand_from ${commands.join(' ')}`;

/** Returns the condition that one of `commands` is used; without a command it is `run`. */
const when = (commands: readonly Command[]) =>
  commands.includes('run')
    ? `not ${seen(COMMANDS.filter((name) => !commands.includes(name)))}`
    : seen(commands);

function offer({ value, offer }: OptionRow): string {
  if (value === undefined) return '';
  if (offer === undefined) return ' -x';
  if (offer === 'folders') return " -x -a '(__fish_complete_directories)'";
  if (offer === 'files') return ' -r -F';
  if ('words' in offer) return ` -x -a ${quoted(offer.words.join(' '))}`;
  // __fish_complete_suffix offers other files too.
  const found = `__fish_complete_suffix .json | string match -r -- '.*(?:/|\\.(?:${offer.endings.join('|')}))$'`;
  return ` -x -a ${quoted(`(${found})`)}`;
}

function line(row: OptionRow): string {
  const { names, commands, help } = row;
  const options = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  const condition = commands === undefined ? '' : ` -n ${quoted(when(commands))}`;
  return `complete -c hostwire${condition} ${options.join(' ')}${offer(row)} -d ${quoted(help)}`;
}

export const formatFish = (): string => `# Completion of hostwire for fish.

complete -c hostwire -f
${COMMANDS.map(
  (name) =>
    `complete -c hostwire -n ${quoted(`not ${seen(COMMANDS)}`)} -a ${name} -d ${quoted(COMMAND_ROWS[name].help)}`,
).join('\n')}
${COMMANDS.flatMap((name) => {
  const { actions } = COMMAND_ROWS[name];
  if (actions === undefined) return [];
  const condition = `${seen([name])}; and not __fish_seen_subcommand_from ${actions.join(' ')}`;
  return [`complete -c hostwire -n ${quoted(condition)} -a ${quoted(actions.join(' '))}`];
}).join('\n')}
${OPTION_LIST.map(line).join('\n')}
`;
