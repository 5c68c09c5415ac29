/** Judges whether a shell offers all that the table of commands and options has. */
import type { Test } from 'tap';
import { COMMAND_ROWS, COMMANDS, type Command, OPTION_LIST } from '#src/cli/words.js';
import type { Shell } from './shells.ts';

const FILES = { 'a.json': '', 'b.yaml': '', 'c.yml': '', 'd.txt': '', folder: { 'e.json': '' } };
const LEVELS = ['error', 'warn', 'info', 'debug'];

const optionsOf = (command: Command) =>
  OPTION_LIST.filter(({ commands }) => commands === undefined || commands.includes(command))
    .flatMap(({ names }) => names)
    .filter((name) => name.startsWith('--'));

export function judgeCompletion(t: Test, { name, ask }: Shell): void {
  const cwd = t.testdir(FILES);
  const offers = (words: readonly string[], expected: readonly string[]) => {
    // zsh adds the "=" that a value needs, fish the "/" of a folder.
    const found = ask({ cwd, words }).map((word) => word.replace(/[/=]$/, ''));
    t.strictSame([...found].sort(), [...expected].sort(), `hostwire ${words.join(' ')}`);
  };
  offers(['ch'], ['check']);
  offers(['--lo'], ['--log-level']);
  offers(['--port', '80', 'do'], ['doctor']);
  for (const command of COMMANDS) {
    const { actions } = COMMAND_ROWS[command];
    offers([command, '--'], optionsOf(command));
    if (actions !== undefined)
      offers(
        [command, 're'],
        actions.filter((word) => word.startsWith('re')),
      );
  }
  offers(['--log-level', ''], LEVELS);
  offers(['check', '--log-level', 'w'], ['warn']);
  offers(['check', '--log-level=w'], ['--log-level=warn']);
  offers(['--config', ''], ['a.json', 'b.yaml', 'c.yml', 'folder']);
  offers(['keygen', '--tls', '--out', ''], ['folder']);
  offers(['--port', ''], []);
  offers(['keygen', '--tls', 'c'], []);
  // An empty word is a command.
  const all = ask({ cwd, words: [''] }).filter((word) => !word.startsWith('-'));
  t.strictSame([...all].sort(), [...COMMANDS].sort(), `${name}: an empty word`);
}
