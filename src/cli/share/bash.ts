/** The completion for bash. Pure. */
import { COMMAND_ROWS, COMMANDS, OPTION_LIST, type OptionRow } from '../words.ts';
import { optionsOf } from './offers.ts';

/** Returns the command that fills COMPREPLY for a value that begins with $cur. */
function offer({ offer }: OptionRow): string {
  if (offer === undefined) return ':';
  if (offer === 'folders') return 'compopt -o filenames 2>/dev/null; _hostwire_reply -d';
  if (offer === 'files') return 'compopt -o filenames 2>/dev/null; _hostwire_reply -f';
  if ('words' in offer) return `_hostwire_reply -W '${offer.words.join(' ')}'`;
  const files = offer.endings.map((ending) => `_hostwire_reply -f -X '!*.${ending}'`);
  return ['compopt -o filenames 2>/dev/null', '_hostwire_reply -d', ...files].join('; ');
}

const VALUED = OPTION_LIST.filter(({ value }) => value !== undefined);
const namesOf = (rows: readonly OptionRow[]) => rows.flatMap(({ names }) => names);

export const formatBash = (): string => `# Completion of hostwire for bash.

_hostwire_reply() {
  local found
  mapfile -t found < <(compgen "$@" -- "$cur")
  COMPREPLY+=("\${found[@]}")
}

_hostwire() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command='' action='' index
  COMPREPLY=()
  # In "--port=80" bash makes "=" a word of its own.
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $prev == '=' ]]; then
    prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  case $prev in
${VALUED.map((row) => `    ${row.names.join('|')}) ${offer(row)}; return ;;`).join('\n')}
  esac
  for ((index = 1; index < COMP_CWORD; index++)); do
    case \${COMP_WORDS[index]} in
      ${namesOf(VALUED).join('|')})
        [[ \${COMP_WORDS[index+1]} == '=' ]] && ((index++))
        ((index++)) ;;
      -*) ;;
      *) if [[ $command == '' ]]; then command=\${COMP_WORDS[index]}; else action=\${COMP_WORDS[index]}; fi ;;
    esac
  done
  case $command in
    '') _hostwire_reply -W '${[...COMMANDS, ...namesOf(optionsOf('run'))].join(' ')}' ;;
${COMMANDS.map((command) => `    ${command}) _hostwire_reply -W '${namesOf(optionsOf(command)).join(' ')}' ;;`).join('\n')}
  esac
  case $command,$action in
${COMMANDS.flatMap((command) => {
  const { actions } = COMMAND_ROWS[command];
  return actions === undefined ? [] : [`    ${command},) _hostwire_reply -W '${actions.join(' ')}' ;;`];
}).join('\n')}
  esac
}

complete -F _hostwire hostwire
`;
