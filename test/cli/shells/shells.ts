/** Asks bash, zsh and fish themselves for their completions of a command line. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SHARE = path.resolve(import.meta.dirname, '../../../../../dist/share');
const LIMIT_MS = 120_000;

interface Asked {
  /** The folder that files are offered of. */
  readonly cwd: string;
  /** After `hostwire`; the last one is completed. */
  readonly words: readonly string[];
}

function run(command: string, args: readonly string[], cwd: string): string {
  const env = { PATH: process.env['PATH'], HOME: cwd, LC_ALL: 'C.UTF-8', TERM: 'dumb' };
  const options = { cwd, env, encoding: 'utf8', timeout: LIMIT_MS } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (status !== 0 || stderr !== '')
    throw new Error(`${command}: ${error?.message ?? `${status} ${stderr}`}`);
  return stdout;
}

/** As readline calls it: "=" is a word of its own. */
const BASH_SCRIPT = `
source "$1"
shift
complete -p hostwire >/dev/null
COMP_WORDS=(hostwire "$@")
COMP_CWORD=$#
_hostwire
[[ \${#COMPREPLY[@]} == 0 ]] || printf '%s\\n' "\${COMPREPLY[@]}"
`;

function askBash({ cwd, words }: Asked): readonly string[] {
  const split = words.flatMap((word) => {
    const [, name, value] = /^(--[^=]+)=(.*)$/.exec(word) ?? [];
    return name === undefined ? [word] : [name, '=', ...(value === '' ? [] : [value ?? ''])];
  });
  const file = path.join(SHARE, 'bash-completion/completions/hostwire');
  const inline = /^--[^=]+=/.exec(words.at(-1) ?? '')?.[0] ?? '';
  return run('bash', ['--norc', '--noprofile', '-c', BASH_SCRIPT, 'bash', file, ...split], cwd)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${inline}${line}`);
}

function askFish({ cwd, words }: Asked): readonly string[] {
  const file = path.join(SHARE, 'fish/vendor_completions.d/hostwire.fish');
  const program = 'source $argv[1]; complete -C "hostwire $argv[2]"';
  return run('fish', ['--no-config', '-c', program, file, words.join(' ')], cwd)
    .split('\n')
    .map((line) => line.replace(/\t.*/, ''))
    .filter((line) => line !== '');
}

/**
 * An interactive zsh on a terminal of its own, whose Tab inserts all matches into the line. Another key writes the line
 * to a file.
 */
const ZSH_SCRIPT = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "
PS1=; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -d $3/dump
zstyle ':completion:*' completer _all_matches _complete
zstyle ':completion:*' insert true
zstyle ':completion:*' file-patterns '%p:globbed-files *(-/):directories'
setopt no_always_last_prompt
show() { print -r -- \\$BUFFER >$3/line.part; mv $3/line.part $3/line; BUFFER= }
zle -N show; bindkey '^X' show; bindkey '^I' complete-word; cd $PWD; print -r rea''dy"
zpty -r shell ready '*ready*'
zpty -w -n shell "hostwire $2"$'\\t'$'\\x18'
for ((i = 0; i < 1000; i++)); do [[ -e $3/line ]] && break; sleep 0.05; done
zpty -d shell
`;

function askZsh({ cwd, words }: Asked): readonly string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-zsh-'));
  try {
    run(
      'zsh',
      ['-f', '-c', ZSH_SCRIPT, 'zsh', path.join(SHARE, 'zsh/site-functions'), words.join(' '), folder],
      cwd,
    );
    const line = readFileSync(path.join(folder, 'line'), 'utf8').trim();
    const before = ['hostwire', ...words.slice(0, -1)].join(' ');
    const found = line.slice(before.length).trim().split(/ +/);
    // Without a match the line stays as it was.
    return found.length === 1 && found[0] === words.at(-1) ? [] : found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export interface Shell {
  readonly name: string;
  /** The words that it offers. */
  readonly ask: (asked: Asked) => readonly string[];
}

export const BASH: Shell = { name: 'bash', ask: askBash };
export const ZSH: Shell = { name: 'zsh', ask: askZsh };
export const FISH: Shell = { name: 'fish', ask: askFish };
