/** Output of `--help`. Pure. */
import { COMMAND_HELP, COMMANDS, OPTION_LIST, PLACES, PURPOSE } from './words.ts';

const WIDTH = 120;

/** Breaks `text` into lines of at most `width`, those after the first indented by `indent`. */
export function wrap(text: string, indent: number, width = WIDTH): string {
  let column = indent;
  let wrapped = '';
  for (const word of text.split(' ')) {
    const isFirst = wrapped === '';
    if (!isFirst && column + 1 + word.length > width) {
      wrapped += `\n${' '.repeat(indent)}${word}`;
      column = indent + word.length;
    } else {
      wrapped += isFirst ? word : ` ${word}`;
      column += word.length + (isFirst ? 0 : 1);
    }
  }
  return wrapped;
}

function list(rows: readonly (readonly [string, string])[]): string {
  const indent = 2 + Math.max(...rows.map(([term]) => term.length)) + 2;
  return rows.map(([term, help]) => `  ${term.padEnd(indent - 2)}${wrap(help, indent)}`).join('\n');
}

export const formatHelp = (): string => `hostwire: ${PURPOSE}

Usage: hostwire [command] [options]

Commands:
${list(COMMANDS.map((name) => [name, COMMAND_HELP[name]]))}

Options:
${list(OPTION_LIST.map(({ names, value, help }) => [names.join(', ') + (value === undefined ? '' : ` ${value}`), help]))}

${wrap(PLACES, 0)}
`;
