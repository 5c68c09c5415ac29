/** The completion for zsh. Pure. */
import { COMMAND_ROWS, COMMANDS, OPTION_LIST, type OptionRow } from '../words.ts';
import { optionsOf, quoted } from './offers.ts';

function offer({ offer }: OptionRow): string {
  if (offer === undefined) return '';
  if (offer === 'folders') return '_files -/';
  if (offer === 'files') return '_files';
  if ('words' in offer) return `(${offer.words.join(' ')})`;
  return `_files -g "*.(${offer.endings.join('|')})"`;
}

/** Escapes brackets and colons, which have a meaning to `_arguments`. */
const escaped = (text: string) => text.replaceAll(/[[\]:\\]/g, '\\$&');

/** The specifications of `_arguments`. */
function specs(row: OptionRow): readonly string[] {
  const { names, value, help } = row;
  const mark = value === undefined ? '' : '=';
  const rest = value === undefined ? '' : `:${value}:${offer(row)}`;
  const others = names.length > 1 ? `(${names.join(' ')})` : '';
  // May be repeated.
  const star = value === 'PATH' ? '*' : '';
  return names.map((name) => quoted(`${others}${star}${name}${mark}[${escaped(help)}]${rest}`));
}

function branch(command: (typeof COMMANDS)[number]): string {
  const { actions } = COMMAND_ROWS[command];
  const words = [...optionsOf(command).flatMap(specs)];
  if (actions !== undefined) words.push(quoted(`2:action:(${actions.join(' ')})`));
  return `    ${command})\n      specs=(\n${words.map((word) => `        ${word}\n`).join('')}      ) ;;`;
}

const VALUED = OPTION_LIST.filter(({ value }) => value !== undefined).flatMap(({ names }) => names);

export const formatZsh = (): string => `#compdef hostwire
# Completion of hostwire for zsh.

_hostwire() {
  local command='' index
  local -a specs commands
  commands=(
${COMMANDS.map((name) => `    ${quoted(`${name}:${COMMAND_ROWS[name].help.replaceAll(':', '\\:')}`)}\n`).join('')}  )
  for ((index = 2; index < CURRENT; index++)); do
    case $words[index] in
      ${VALUED.join('|')}) ((index++)) ;;
      -*) ;;
      *) command=$words[index]; break ;;
    esac
  done
  case \${command:-run} in
${COMMANDS.map(branch).join('\n')}
  esac
  _arguments -S "$specs[@]" '1:command:{ _describe -t commands command commands }'
}

_hostwire "$@"
`;
