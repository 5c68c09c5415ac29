/** A real terminal of a given size: tmux, with the program in it. */
import '../../helpers/service/dead-buses.ts';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { PATIENCE_MS } from '../../helpers/limits.ts';

export const MAIN = fileURLToPath(new URL('../../../../../dist/main.js', import.meta.url));

export const NO_TMUX =
  spawnSync('tmux', ['-V'], { stdio: 'ignore' }).error !== undefined && 'no tmux: apt-get install tmux';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Terminal {
  /** The lines of the screen, without spaces at their ends. */
  readonly screen: () => readonly string[];
  /** The same with escape sequences for colours and attributes. */
  readonly coloured: () => string;
  /** The same with the spaces at the ends of lines, whose background may have a colour. */
  readonly painted: () => string;
  /** tmux's names of keys, or texts. */
  readonly press: (...keys: readonly string[]) => void;
  readonly paste: (text: string) => void;
  readonly resize: (size: Size) => void;
  /** Waits until `isReached` of the screen's text; throws with the screen when that does not happen. */
  readonly reached: (what: string, isReached: (text: string) => boolean) => Promise<string>;
  /** All bytes that the program has written. */
  readonly written: () => string;
  /** A shell command that runs the program. */
  readonly command: string;
  /** The pid of the program. */
  readonly program: () => number;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Runs `hostwire top` with `args` in a shell of a terminal, which says `ended CODE` after it. */
export function openTerminal(
  t: Pick<Test, 'teardown'>,
  { columns, rows }: Size,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  /** Instead of the program: a shell, which `command` is typed into. */
  shell?: string,
): Terminal {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-tmux-'));
  const tmux = (...words: readonly string[]) =>
    execFileSync('tmux', ['-S', path.join(folder, 'socket'), '-f', '/dev/null', ...words], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
    });
  const program = [process.execPath, MAIN, 'top', ...args].map(quoted).join(' ');
  const set = Object.entries({ LC_ALL: 'C.UTF-8', ...variables }).map(([name, text]) =>
    quoted(`${name}=${text}`),
  );
  const command = `env ${set.join(' ')} ${program}`;
  // It waits until the pipe is there.
  const script = `read -r _; ${shell ?? `${command}; echo "ended $?"; exec sh`}`;
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), `sh -c ${quoted(script)}`);
  t.teardown(() => {
    spawnSync('tmux', ['-S', path.join(folder, 'socket'), 'kill-server']);
    rmSync(folder, { recursive: true, force: true });
  });
  const pipe = path.join(folder, 'written');
  tmux('pipe-pane', `cat > ${quoted(pipe)}`);
  tmux('send-keys', 'Enter');
  const screen = () => tmux('capture-pane', '-p').replace(/\n$/, '').split('\n');
  return {
    screen,
    coloured: () => tmux('capture-pane', '-p', '-e'),
    painted: () => tmux('capture-pane', '-p', '-e', '-N'),
    press: (...keys) => void tmux('send-keys', ...keys),
    paste(text) {
      tmux('set-buffer', text);
      tmux('paste-buffer', '-p');
    },
    resize: (size) => void tmux('resize-window', '-x', String(size.columns), '-y', String(size.rows)),
    written: () => readFileSync(pipe, 'utf8'),
    command,
    program() {
      const args = ['-t', tmux('list-panes', '-F', '#{pane_tty}').trim(), '-o', 'pid=,args='];
      const found = execFileSync('ps', args, { encoding: 'utf8' }).split('\n');
      const line = found.find((each) => each.includes(MAIN) && !/ (?:sh|bash) /.test(each));
      return Number(line?.trim().split(' ')[0]);
    },
    async reached(what, isReached) {
      const deadline = performance.now() + PATIENCE_MS;
      for (;;) {
        const text = screen().join('\n');
        if (isReached(text)) return text;
        if (performance.now() > deadline) throw new Error(`not reached: ${what}. The screen:\n${text}`);
        await sleep(50);
      }
    },
  };
}
